#pragma once
// `tsdb user`: the file of users (http/access/user_file.h).

#include "tsd/command.h"

namespace hg::tsd {

extern const Command kUserCommand;

}  // namespace hg::tsd
