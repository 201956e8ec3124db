"""Classes of code lines that results and the reader share; sizes come from classes alone."""

# Languages whose people set tabs eight columns apart (website.md, section 5).
_TAB8 = frozenset(
    ("C", "C++", "Go", "Makefile", "Assembly", "Unix Assembly", "GAS", "NASM", "Shell", "Bash")
)


def tab_class(language: str) -> str:
    return " tab8" if language in _TAB8 else ""


def digits_class(last_line: int) -> str:
    """The width of the gutter; four digits need no class."""
    digits = len(str(max(1, last_line)))
    return " dig3" if digits <= 3 else "" if digits == 4 else f" dig{min(digits, 6)}"
