# SPDX-License-Identifier: Apache-2.0
"""The sections about a program: what to do first, its regions, where it ran, its tasks, what to try, the machine."""
import plotly.graph_objects as go

import look
import page
import regions
from data import lines_of

MOST_THREADS = 32
WORTH_A_ROW = 0.001  # of the work of all


def absent(why):
    return f"<p>Not measured: {page.escaped(why)}.</p>"


def tiles(document):
    run, machine = document["run"], document["machine"]
    cpus = len(machine["cpus"])
    busy = run["cpu_seconds"] / run["seconds"] if run["seconds"] > 0 else 0
    domains = sum(1 for d in machine["domains"] if d["cpus"])
    said = [(f"{run['seconds']:.3g} s", "it ran"), (f"{busy:.2f} of {cpus}", "cpus worked on average"),
            (str(len(document["where"]["threads"])), "threads were seen"),
            (str(domains), "locality domain" + ("s" if domains != 1 else "")),
            (str(len(document["findings"])), "findings about the machine")]
    if run["signal"]:
        said.append((str(run["signal"]), "is the signal that ended it"))
    elif run["status"]:
        said.append((str(run["status"]), "was its exit status"))
    return ('<div class="tiles">' + "".join(f'<div class="tile"><b>{page.escaped(big)}</b><span>{page.escaped(small)}</span></div>'
                                            for big, small in said) + "</div>")


def head(document):
    return (f'<p class="faint">{page.escaped(document["machine"]["name"])}; {page.escaped(document["machine"]["topology"])}; '
            f'{page.escaped(document["date"])}</p>' + page.command(document["command"]) + tiles(document))


def steps(document):
    if not document["steps"]:
        return "<p>Nothing stands out: the program uses what the machine has.</p>"
    items = "".join(f'<li><div class="body"><strong>{page.escaped(step["title"])}</strong><p>{page.escaped(step["why"])}</p>'
                    + (page.command(step["command"]) if step["command"] else "") + "</div></li>" for step in document["steps"])
    return '<p class="note">The most promising comes first: measured gains, then findings of nigh doctor.</p>' + \
        f'<ol class="steps">{items}</ol>'


def region_section(figures, document):
    found = document["regions"]
    text = absent(found["absent"]) if "absent" in found else ""
    if "lines" in found:
        text += regions.html(figures, lines_of(found["lines"], "regions"))
    return text


def cpu_figure(figures, document):
    rows = sorted(document["where"]["cpus"], key=lambda row: -row["cpu"])
    seconds = document["run"]["seconds"]
    parts = len(rows[0]["busy"])
    times = [(i + 0.5) * seconds / parts for i in range(parts)]
    names = [f"cpu {row['cpu']}" for row in rows]
    heat = go.Heatmap(x=times, y=names, z=[row["busy"] for row in rows], zmin=0, zmax=1, colorscale=look.heat_scale(),
                      xgap=0, ygap=2, hovertemplate="%{y} at %{x:.3g} s: %{z:.0%} busy<extra></extra>",
                      colorbar=dict(tickformat=".0%", thickness=10, outlinewidth=0, tickfont=dict(size=10, color=look.FAINT)))
    figure = look.figure([heat], look.axis("seconds"), look.axis("", showgrid=False), height=min(900, 110 + 26 * len(rows)),
                         showlegend=False)
    mean = [sum(row["busy"]) / parts for row in rows]
    says = "Bands: how busy the program kept each cpu over time. On average " + ", ".join(
        f"{name} {share:.0%}" for name, share in list(zip(names, mean))[::-1][:16]) + "."
    numbers = page.table(["cpu", "domain", "busy on average"],
                         [[row["cpu"], row["domain"] if row["domain"] >= 0 else "-", f"{share:.1%}"]
                          for row, share in list(zip(rows, mean))[::-1]], {0, 1, 2})
    return figures.html(figure, says, "How busy the program kept each cpu. Work between two samples counts for the cpu on which "
                        "the second one found the thread.", numbers)


def page_figure(figures, document):
    samples = document["where"]["pages"]
    names = sorted({name for sample in samples for name in sample["bytes"]})
    if not names:
        return "<p>The system does not say where its pages lay.</p>"
    mib = 2.0 ** 20
    traces = [go.Scatter(x=[s["seconds"] for s in samples], y=[s["bytes"].get(name, 0) / mib for s in samples], name=name,
                         mode="lines+markers" if len(samples) < 4 else "lines", stackgroup="pages",
                         line=dict(color=look.series(i), width=1.5),
                         hovertemplate="%{fullData.name}: %{y:.4g} MiB at %{x:.3g} s<extra></extra>")
              for i, name in enumerate(names)]
    figure = look.figure(traces, look.axis("seconds"), look.axis("MiB", rangemode="tozero"), height=280, showlegend=True)
    most = {name: max(s["bytes"].get(name, 0) for s in samples) for name in names}
    says = "Areas: memory of the program over time. At most " + ", ".join(f"{n}: {b / mib:.4g} MiB" for n, b in most.items()) + "."
    return figures.html(figure, says, "Where its pages lay (private and shared memory that no file backs).",
                        page.table(["where", "at most, MiB"], [[n, f"{b / mib:.4g}"] for n, b in most.items()], {1}))


def thread_table(document):
    threads = sorted(document["where"]["threads"], key=lambda t: -t["cpu_seconds"])
    worth = WORTH_A_ROW * sum(t["cpu_seconds"] for t in threads)
    shown = [t for t in threads if t["cpu_seconds"] >= worth][:MOST_THREADS] or threads[:1]
    rows = []
    for t in shown:
        all_of_it = sum(t["on"].values()) or 1
        on = sorted(t["on"].items(), key=lambda item: -item[1])
        where = ", ".join(f"cpu {cpu} {s / all_of_it:.0%}" for cpu, s in on[:4]) + (", ..." if len(on) > 4 else "")
        rows.append([f"{t['name']} {t['thread']}", regions.duration(1e9 * t["cpu_seconds"]), t["migrations"], where])
    rest = len(threads) - len(shown)
    left = f'<p class="note">And {rest} thread{"" if rest == 1 else "s"} that worked less.</p>' if rest else ""
    return page.table(["thread", "worked", "moved", "on"], rows, {1, 2}) + left


def where(figures, document):
    found = document["where"]
    if not found["samples"]:
        return "<p>The program ended before anybody looked where it ran.</p>"
    text = '<p class="note">From outside, by samples: its run was its own.</p>'
    if found["cpus"]:
        text += "<h3>Cpus</h3>" + cpu_figure(figures, document)
    return text + "<h3>Threads</h3>" + thread_table(document) + "<h3>Pages</h3>" + page_figure(figures, document)


def worker_figure(figures, tasks):
    workers = tasks["workers"][::-1]
    parts = len(workers[0]["working"])
    times = [(i + 0.5) * tasks["seconds"] / parts for i in range(parts)]
    hints = [[[s, a] for s, a in zip(w["searching"], w["asleep"])] for w in workers]
    heat = go.Heatmap(x=times, y=[look.words(w["name"] or "worker") for w in workers], zmin=0, zmax=1,
                      z=[w["working"] for w in workers],
                      colorscale=look.heat_scale(), ygap=2, customdata=hints,
                      hovertemplate="%{y} at %{x:.3g} s<br>in tasks %{z:.0%}<br>searching %{customdata[0]:.0%}<br>asleep "
                      "%{customdata[1]:.0%}<extra></extra>",
                      colorbar=dict(tickformat=".0%", thickness=10, outlinewidth=0, tickfont=dict(size=10, color=look.FAINT)))
    figure = look.figure([heat], look.axis("seconds"), look.axis("", showgrid=False), height=min(900, 110 + 26 * len(workers)),
                         showlegend=False)

    def mean(shares):
        return sum(shares) / max(1, len(shares))
    rows = [[w["name"], *(f"{mean(w[what]):.1%}" for what in ("working", "searching", "asleep"))] for w in workers[::-1]]
    says = "Bands: how much of the time each worker was inside tasks. " + ", ".join(f"{r[0]} {r[1]}" for r in rows[:16]) + "."
    return figures.html(figure, says, "Time inside tasks, by worker.",
                        page.table(["worker", "in tasks", "searching", "asleep"], rows, {1, 2, 3}))


def steal_figure(figures, tasks):
    parts = len(tasks["tasks_over_time"])
    length = tasks["seconds"] / parts
    times = [(i + 0.5) * length for i in range(parts)]
    traces = [go.Scatter(x=times, y=[n / length for n in tasks["tasks_over_time"]], name="tasks from elsewhere", mode="lines",
                         line=dict(color=look.SERIES[0], width=1.8, shape="hvh"),
                         hovertemplate="%{y:.4g} tasks a second ended at %{x:.3g} s<extra></extra>")]
    for number, (level, counts) in enumerate(sorted(tasks["steals_over_time"].items()), 1):
        traces.append(go.Scatter(x=times, y=[n / length for n in counts], name=f"steals, {level}", mode="lines", yaxis="y2",
                                 line=dict(color=look.series(number), width=1.8, shape="hvh", dash="dot"),
                                 hovertemplate="%{y:.4g} steals a second (%{fullData.name}) at %{x:.3g} s<extra></extra>"))
    second = dict(look.axis("steals a second", rangemode="tozero", overlaying="y", side="right", showgrid=False))
    figure = look.figure(traces, look.axis("seconds"), look.axis("tasks a second", rangemode="tozero"), height=320,
                         showlegend=True, yaxis2=second)
    stolen = sum(sum(counts) for counts in tasks["steals_over_time"].values())
    says = (f"Lines: tasks from other workers or a queue, {sum(tasks['tasks_over_time'])} in all, and steals, {stolen} in all, "
            "over time.")
    return figures.html(figure, says, "Tasks that came from another worker or a queue, when they ended (left axis); steals by the "
                        "smallest level of the machine that holds thief and victim (right axis). Tasks that a worker takes back "
                        "from its own stack are counted in the table only.")


def task_section(figures, document):
    tasks = document["tasks"]
    if "absent" in tasks:
        return absent(tasks["absent"])
    # OpenMP's implicit tasks, the regions themselves, are no task constructs.
    timed = sum(c["tasks"] for c in tasks["codes"])
    mean = sum(c["ns"] for c in tasks["codes"]) / timed if timed else tasks["busy_ns"] / max(1, tasks["created"])
    steals = ", ".join(f"{count} within a {level}" for level, count in tasks["steals"].items()) or "none"
    rows = [["tasks created", tasks["created"]], ["average task", regions.duration(mean)], ["steals", steals],
            ["tasks stolen", tasks["stolen"]], ["searches in vain", tasks["failed"]], ["sleeps", tasks["parks"]],
            ["run at once (full stack or cutoff)", tasks["serialized"]]]
    text = page.table(["what", "how much"], rows)
    if tasks["events_lost"]:
        text += (f'<p class="note">The figures lack {tasks["events_lost"]} events: a worker keeps its last 65,535. The table has '
                 "all.</p>")
    if tasks["codes"]:
        text += "<h3>Task constructs</h3>" + page.table(
            ["construct", "tasks", "time", "each"],
            [[c["name"], c["tasks"], regions.duration(c["ns"]), regions.duration(c["ns"] / max(1, c["tasks"]))]
             for c in tasks["codes"][:20]], {1, 2, 3})
    if tasks["workers"]:
        text += worker_figure(figures, tasks)
    return text + steal_figure(figures, tasks)


def tune(document):
    plan = document["tune"]
    if "absent" in plan:
        return absent(plan["absent"])
    if plan["configurations"] < 2:
        return "<p>Nothing: on this machine no option of nigh run can matter for it.</p>"
    runs = page.table(["", "options of nigh run"],
                      [[i, n["options"] or "(as it is)"] for i, n in enumerate(plan["next"], 1)], {0})
    notes = "".join(f"<li>{page.escaped(note)}</li>" for note in plan["notes"])
    return (f"<p>It would measure {plan['configurations']} configurations, these first:</p>{runs}"
            + (f'<ul class="note">{notes}</ul>' if notes else "") + page.command(plan["command"]))


def machine(document):
    found = document["machine"]
    says = f"The machine: {found['topology']}"
    return (f'<p class="note">{page.escaped(found["topology"])}, as nigh topo draws it.</p>'
            f'<div class="drawing wide" tabindex="0" role="img" aria-label="{page.escaped(says)}">{found["svg"]}</div>')


def findings(document):
    if not document["findings"]:
        return "<p>Nothing on this machine limits nigh.</p>"
    return "".join(f'<div class="finding"><strong>{page.escaped(f["what"])}</strong><p>{page.escaped(f["why"])}</p>'
                   f'<p><span class="faint">What to do:</span> {page.escaped(f["what_to_do"])}</p></div>'
                   for f in document["findings"]) + page.command("nigh doctor")


def sections(document):
    figures = page.Figures()
    return head(document), [("first", "First steps", steps(document)),
                            ("regions", "Parallel regions", region_section(figures, document)),
                            ("where", "Where it ran", where(figures, document)),
                            ("tasks", "Tasks and steals", task_section(figures, document)),
                            ("tune", "Next for nigh tune", tune(document)),
                            ("findings", "Findings about the machine", findings(document)),
                            ("machine", "The machine", machine(document))]
