"""What can go wrong with a plugin. It is told beside the answer and never replaces it."""


class PluginProblem(Exception):
    """`code` is one of the documented PLUGIN_ codes; `message` is for the plugin's author."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
