"""A user name and a token for one host, handed to Git through a pipe.

Git asks a credential helper, which here is a line of shell that reads one record from an
inherited pipe. So the token is in no argument list, no environment, no address, no file and
no configuration; only this process, the shell's memory and Git's ever hold it. Git asks the
helper only for the host that it belongs to, and follows no redirect.
"""

import base64
import os
from dataclasses import dataclass, field

# Git asks once for each connection helper that it starts: a listing, a fetch, a second
# round for objects that were left out. What is not read goes when the pipe is closed.
RECORDS = 8
MAX_TOKEN_CHARS = 4096  # eight records of this size still fit a pipe's 64 KiB

# Only builtins of the shell touch the token: an argument of a program could be seen.
_HELPER = (
    '!f() {{ test "$1" = get || exit 0; while IFS= read -r l && test -n "$l";'
    " do printf '%s\\n' \"$l\"; done </dev/fd/{fd}; }}; f"
)


@dataclass(frozen=True, slots=True)
class Credential:
    """`url` is scheme://host[:port]: what it is for, and what Git may send it to."""

    url: str
    username: str
    token: str = field(repr=False)

    def config(self, descriptor: int) -> list[str]:
        """`key=value` pairs for `-c`; they name the pipe and hold no secret."""
        return [f"credential.{self.url}.helper={_HELPER.format(fd=descriptor)}"]

    def open_pipe(self) -> int:
        """The reading end of a pipe that holds the answer; the caller closes it."""
        record = f"username={self.username}\npassword={self.token}\n\n".encode()
        reading, writing = os.pipe()
        try:
            os.write(writing, record * RECORDS)
        finally:
            os.close(writing)
        return reading

    def scrubbed(self, output: bytes) -> bytes:
        """What a remote says, without the token, should it repeat it."""
        pair = base64.b64encode(f"{self.username}:{self.token}".encode())
        return output.replace(self.token.encode(), b"***").replace(pair, b"***")
