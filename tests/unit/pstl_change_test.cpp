// SPDX-License-Identifier: Apache-2.0
#include "unit/pstl_inputs.hpp"
// Parallel algorithms that copy, change and move elements.

namespace {

template <class T>
class PstlChange : public PstlTyped<T> {};
TYPED_TEST_SUITE(PstlChange, element_types);

TYPED_TEST(PstlChange, ForEachAndForEachN) {
  auto const change = [](TypeParam& e) { e = chosen(e) ? stranger<TypeParam>() : e; };
  this->on_any([&](auto& x, auto const&... how) {
    std::for_each(how..., x.a.begin(), x.a.end(), change);
    return std::for_each_n(how..., x.b.begin(), x.size() / 2, change) - x.b.begin();
  });
}

TYPED_TEST(PstlChange, CopyCopyNCopyIfAndMove) {
  this->on_any([](auto& x, auto const&... how) {
    auto const at = std::copy(how..., x.a.begin(), x.a.end(), x.out.begin());
    return std::copy_n(how..., x.b.begin(), x.size() / 2, at) - x.out.begin();
  });
  this->on_any([](auto& x, auto const&... how) {
    return std::copy_if(how..., x.a.begin(), x.a.end(), x.out.begin(), chosen<TypeParam>) -
           x.out.begin();
  });
  this->on_any([](auto& x, auto const&... how) {
    auto const end = std::move(how..., x.a.begin(), x.a.end(), x.out.begin());
    x.a.clear();
    return end - x.out.begin();
  });
}

TYPED_TEST(PstlChange, TransformOfOneAndOfTwo) {
  this->on_any([](auto& x, auto const&... how) {
    auto const change = [](TypeParam const& e) { return chosen(e) ? stranger<TypeParam>() : e; };
    return std::transform(how..., x.a.begin(), x.a.end(), x.out.begin(), change) - x.out.begin();
  });
  this->on_any([](auto& x, auto const&... how) {
    auto const less = [](TypeParam const& e, TypeParam const& f) { return std::min(e, f); };
    return std::transform(how..., x.a.begin(), x.a.end(), x.b.begin(), x.out.begin(), less) -
           x.out.begin();
  });
}

TYPED_TEST(PstlChange, FillAndGenerate) {
  this->on_any([](auto& x, auto const&... how) {
    std::fill(how..., x.a.begin(), x.a.end(), stranger<TypeParam>());
    return std::fill_n(how..., x.b.begin(), x.size() / 2, stranger<TypeParam>()) - x.b.begin();
  });
  this->on_any([](auto& x, auto const&... how) {
    std::generate(how..., x.a.begin(), x.a.end(), stranger<TypeParam>);
    return std::generate_n(how..., x.b.begin(), x.size() / 2, stranger<TypeParam>) - x.b.begin();
  });
}

TYPED_TEST(PstlChange, RemoveAndRemoveIf) {
  this->on_any([](auto& x, auto const&... how) {
    auto const which = x.a.empty() ? stranger<TypeParam>() : x.a.front();
    x.a.erase(std::remove(how..., x.a.begin(), x.a.end(), which), x.a.end());
    x.b.erase(std::remove_if(how..., x.b.begin(), x.b.end(), chosen<TypeParam>), x.b.end());
    return true;
  });
  this->on_any([](auto& x, auto const&... how) {
    auto const which = x.a.empty() ? stranger<TypeParam>() : x.a.front();
    return std::remove_copy(how..., x.a.begin(), x.a.end(), x.out.begin(), which) - x.out.begin();
  });
  this->on_any([](auto& x, auto const&... how) {
    return std::remove_copy_if(how..., x.a.begin(), x.a.end(), x.out.begin(), chosen<TypeParam>) -
           x.out.begin();
  });
}

TYPED_TEST(PstlChange, Replace) {
  this->on_any([](auto& x, auto const&... how) {
    auto const which = x.a.empty() ? stranger<TypeParam>() : x.a.front();
    std::replace(how..., x.a.begin(), x.a.end(), which, stranger<TypeParam>());
    std::replace_if(how..., x.b.begin(), x.b.end(), chosen<TypeParam>, stranger<TypeParam>());
    auto const at = std::replace_copy(how..., x.a.begin(), x.a.end(), x.out.begin(),
                                      stranger<TypeParam>(), which);
    return std::replace_copy_if(how..., x.b.begin(), x.b.end(), at, chosen<TypeParam>, which) -
           x.out.begin();
  });
}

TYPED_TEST(PstlChange, ReverseRotateAndSwap) {
  this->on_any([](auto& x, auto const&... how) {
    std::reverse(how..., x.a.begin(), x.a.end());
    return std::reverse_copy(how..., x.b.begin(), x.b.end(), x.out.begin()) - x.out.begin();
  });
  for (std::ptrdiff_t const quarters : {0, 1, 3, 4}) {
    this->on_any([&](auto& x, auto const&... how) {
      auto const by = x.size() * quarters / 4;
      auto const end =
          std::rotate_copy(how..., x.b.begin(), x.b.begin() + by, x.b.end(), x.out.begin());
      return std::pair(std::rotate(how..., x.a.begin(), x.a.begin() + by, x.a.end()) - x.a.begin(),
                       end - x.out.begin());
    });
  }
  this->on_any([](auto& x, auto const&... how) {
    return std::swap_ranges(how..., x.a.begin(), x.a.end(), x.b.begin()) - x.b.begin();
  });
}

TYPED_TEST(PstlChange, UniqueAndUniqueCopy) {
  this->on_sorted([](auto& x, auto const&... how) {
    x.a.erase(std::unique(how..., x.a.begin(), x.a.end()), x.a.end());
    return std::unique_copy(how..., x.b.begin(), x.b.end(), x.out.begin()) - x.out.begin();
  });
}

TYPED_TEST(PstlChange, Partition) {
  this->on_any([](auto& x, auto const&... how) {
    auto const middle = std::partition(how..., x.a.begin(), x.a.end(), chosen<TypeParam>);
    bool const right = std::all_of(x.a.begin(), middle, chosen<TypeParam>) &&
                       std::none_of(middle, x.a.end(), chosen<TypeParam>);
    auto const point = middle - x.a.begin();
    std::sort(x.a.begin(), x.a.end(), [](TypeParam const& e, TypeParam const& f) {
      if constexpr (std::is_same_v<TypeParam, owner>)
        return std::pair(e.key, *e.number) < std::pair(f.key, *f.number);
      else
        return e < f;
    });
    return std::pair(point, right);
  });
  this->on_any([](auto& x, auto const&... how) {
    return std::stable_partition(how..., x.a.begin(), x.a.end(), chosen<TypeParam>) - x.a.begin();
  });
  this->on_any([](auto& x, auto const&... how) {
    auto const second = x.out.begin() + x.size();
    auto const ends = std::partition_copy(how..., x.a.begin(), x.a.end(), x.out.begin(), second,
                                          chosen<TypeParam>);
    return std::pair(ends.first - x.out.begin(), ends.second - second);
  });
}

// Memory without elements, as bytes: what is made in it is destroyed here.
template <class T>
class raw {
 public:
  explicit raw(std::ptrdiff_t count)
      : memory_(static_cast<std::size_t>(count)), first_(std::allocator<T>().allocate(memory_)) {}
  ~raw() { std::allocator<T>().deallocate(first_, memory_); }
  raw(raw&&) = delete;
  raw& operator=(raw&&) = delete;
  T* begin() const { return first_; }

 private:
  std::size_t memory_;
  T* first_;
};

TYPED_TEST(PstlChange, UninitializedMemory) {
  auto const in_memory = [&](auto const& make) {
    this->on_any([&](auto& x, auto const&... how) {
      raw<TypeParam> const memory(x.size());
      auto* const end = make(x, memory.begin(), how...);
      std::copy(memory.begin(), end, x.out.begin());
      auto* const half = memory.begin() + (end - memory.begin()) / 2;
      std::destroy(how..., memory.begin(), half);
      return std::destroy_n(how..., half, end - half) - memory.begin();
    });
  };
  in_memory([](auto& x, auto* to, auto const&... how) {
    return std::uninitialized_copy(how..., x.a.begin(), x.a.end(), to);
  });
  in_memory([](auto& x, auto* to, auto const&... how) {
    return std::uninitialized_copy_n(how..., x.a.begin(), x.size(), to);
  });
  in_memory([](auto& x, auto* to, auto const&... how) {
    auto* const end = std::uninitialized_move(how..., x.a.begin(), x.a.end(), to);
    x.a.clear();
    return end;
  });
  in_memory([](auto& x, auto* to, auto const&... how) {
    auto const ends = std::uninitialized_move_n(how..., x.a.begin(), x.size(), to);
    x.a.clear();
    if constexpr (requires { ends.second; })
      return ends.second;
    else
      return ends;  // as g++ 12 has it
  });
  in_memory([](auto& x, auto* to, auto const&... how) {
    std::uninitialized_fill(how..., to, to + x.size(), stranger<TypeParam>());
    return to + x.size();
  });
  in_memory([](auto& x, auto* to, auto const&... how) {
    return std::uninitialized_fill_n(how..., to, x.size(), stranger<TypeParam>());
  });
  in_memory([](auto& x, auto* to, auto const&... how) {
    std::uninitialized_value_construct(how..., to, to + x.size());
    return to + x.size();
  });
  in_memory([](auto& x, auto* to, auto const&... how) {
    return std::uninitialized_value_construct_n(how..., to, x.size());
  });
  if constexpr (std::is_class_v<TypeParam>) {  // an int would have no value
    in_memory([](auto& x, auto* to, auto const&... how) {
      std::uninitialized_default_construct(how..., to, to + x.size());
      return to + x.size();
    });
    in_memory([](auto& x, auto* to, auto const&... how) {
      return std::uninitialized_default_construct_n(how..., to, x.size());
    });
  }
}

}  // namespace
