"""Names of rows and groups that a service takes: those that every log and table can hold."""

from abstain._errors import InvalidInputError

LONGEST = 500


def check_name(name: str, what: str, /) -> None:
    """Refuse a name that is blank, too long, or not printable, such as half of a surrogate pair."""
    if not name.strip() or len(name) > LONGEST or not name.isprintable():
        raise InvalidInputError(f"`{what}` must be printable, of 1 to {LONGEST} characters, got {name!r:.60}.")
