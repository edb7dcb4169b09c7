#pragma once
// The command `tsdb user`, which manages the user file (http/access/user_file.h).

#include "tsd/command.h"

namespace hg::tsd {

extern const Command kUserCommand;

}  // namespace hg::tsd
