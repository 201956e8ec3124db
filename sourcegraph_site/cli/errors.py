"""Why the program ends with another exit code than 0."""

SUCCESS = 0
FAILURE = 1  # network, an invalid answer, or an HTTP status that is an error
USAGE = 2  # flags, arguments, configuration
NOT_READY = 3  # 202 Accepted, or 409 with INDEX_NOT_READY: ask again later


class CliError(Exception):
    def __init__(self, message: str, exit_code: int = FAILURE) -> None:
        super().__init__(message)
        self.message = message
        self.exit_code = exit_code


class UsageError(CliError):
    def __init__(self, message: str) -> None:
        super().__init__(message, USAGE)
