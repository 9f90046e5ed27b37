// SPDX-License-Identifier: Apache-2.0
#include "platform/own_rights.hpp"

#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace nigh::platform {

bool drops_preloads(char const* file) noexcept {
  struct stat what{};
  if (::stat(file, &what) != 0) return false;
  bool const becomes_other = ((what.st_mode & S_ISUID) != 0 && what.st_uid != ::getuid()) ||
                             ((what.st_mode & S_ISGID) != 0 && what.st_gid != ::getgid());
  bool const has_capabilities =
      ::geteuid() != 0 && ::getxattr(file, "security.capability", nullptr, 0) > 0;
  return becomes_other || has_capabilities;
}

}  // namespace nigh::platform
