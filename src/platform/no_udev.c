// SPDX-License-Identifier: Apache-2.0
// libudev, as a static hwloc calls it, for programs without it (NIGH_PORTABLE): it knows of no
// device. hwloc asks it for names of disks, which nigh has no use for.

#include <stddef.h>

struct udev;
struct udev_device;
struct udev* udev_new(void);
struct udev* udev_unref(struct udev* udev);
struct udev_device* udev_device_new_from_subsystem_sysname(struct udev* udev, char const* subsystem,
                                                           char const* name);
struct udev_device* udev_device_unref(struct udev_device* device);
char const* udev_device_get_property_value(struct udev_device* device, char const* key);

struct udev* udev_new(void) { return NULL; }

struct udev* udev_unref(struct udev* udev) {
  (void)udev;
  return NULL;
}

struct udev_device* udev_device_new_from_subsystem_sysname(struct udev* udev, char const* subsystem,
                                                           char const* name) {
  (void)udev;
  (void)subsystem;
  (void)name;
  return NULL;
}

struct udev_device* udev_device_unref(struct udev_device* device) {
  (void)device;
  return NULL;
}

char const* udev_device_get_property_value(struct udev_device* device, char const* key) {
  (void)device;
  (void)key;
  return NULL;
}
