"""Cells of tables: where each begins and ends in the bytes of a file, and what it says.

A kernel reads what nearly all cells look like, and leaves the others to Python, which decides what they mean.
"""

import numpy as np

from abstain._kernels.compilation import INSIDE, array, byte, compiled, double, given, whole

TAB, NEWLINE, RETURN, SPACE, QUOTE, PLUS, MINUS, POINT, ZERO, NINE = (ord(sign) for sign in '\t\n\r "+-.09')
LINES, ROWS, POSITION = range(3)
EMPTY, READ, LEFT = range(3)
"""What a cell is: without characters, read, or left to Python."""
POWERS = 10.0 ** np.arange(23)  # exact
EXACT = 2.0**53
MARGIN = 1.0 + 1e-9  # of the rounding error of a decimal, far beyond the error of that error
TEXT = given(byte, 1)


@compiled(**INSIDE)
def _is_space(sign):  # type: ignore[no-untyped-def]
    return sign == SPACE or TAB <= sign <= RETURN or 28 <= sign < SPACE


@compiled((TEXT, whole, whole, array(whole, 2), array(whole, 2), array(whole)))
def split_cells(text, delimiter, lines, starts, ends, done):  # type: ignore[no-untyped-def]
    """Split up to so many lines; False at one that only a whole CSV parser can read.

    ``starts`` and ``ends`` (columns, rows) get the cells without the spaces around them, and without quotes. ``done``
    are lines and rows so far, empty lines are no rows, and the position after them: another call continues there when
    the text is longer.
    """
    columns, size = starts.shape[0], text.size
    at = done[POSITION]
    while done[LINES] < lines and at < size:
        column = 0
        if text[at] == NEWLINE or (text[at] == RETURN and at + 1 < size and text[at + 1] == NEWLINE):
            at += 1 if text[at] == NEWLINE else 2
            done[LINES] += 1
            done[POSITION] = at
            continue
        while True:
            is_quoted = at < size and text[at] == QUOTE
            at += 1 if is_quoted else 0
            first = at
            if is_quoted:
                while at < size and text[at] != QUOTE:
                    at += 1
            else:
                while at < size and text[at] != delimiter and text[at] != NEWLINE and text[at] != RETURN:
                    if text[at] == QUOTE:
                        return False
                    at += 1
            last = at
            at += 1 if is_quoted else 0
            returns = at < size and text[at] == RETURN
            at += 1 if returns else 0
            if at >= size:  # the rest of the row is to come
                return True
            if column == columns or (text[at] != NEWLINE and (returns or text[at] != delimiter)):
                return False
            while first < last and _is_space(text[first]):
                first += 1
            while first < last and _is_space(text[last - 1]):
                last -= 1
            starts[column, done[ROWS]], ends[column, done[ROWS]] = first, last
            column += 1
            at += 1
            if text[at - 1] == NEWLINE:
                break
        if column != columns:
            return False
        done[LINES] += 1
        done[ROWS] += 1
        done[POSITION] = at
    return True


@compiled((TEXT, array(whole), array(whole)))
def are_plain(text, starts, ends):  # type: ignore[no-untyped-def]
    """Whether all cells are names as they stand: no space around them, no fraction of zeros, not true or false."""
    for i in range(starts.size):
        first, end = starts[i], ends[i]
        if first == end:
            continue
        if not (SPACE < text[first] < 128 and SPACE < text[end - 1] < 128):
            return False
        if text[end - 1] == ZERO:
            for at in range(first, end):
                if text[at] == POINT:
                    return False
        if 4 <= end - first <= 5 and text[end - 1] == 101 and (text[first] == 116 or text[first] == 102):  # t…e, f…e
            return False
    return True


@compiled((TEXT, array(whole), array(whole), array(whole), array(whole), array(whole)))
def read_words(text, starts, ends, words, meanings, results):  # type: ignore[no-untyped-def]
    """The meaning of each cell, a word of up to seven characters packed as `packed` does; False at another."""
    for i in range(starts.size):
        if ends[i] - starts[i] > 7:
            return False
        number, word = 0, np.int64(1)
        for at in range(starts[i], ends[i]):
            sign = np.int64(text[at])
            word = word << 8 | (sign + 32 if 65 <= sign <= 90 else sign)
        while words[number] != word:
            number += 1
            if number == words.size:
                return False
        results[i] = meanings[number]
    return True


def packed(word: str, /) -> int:
    """A word of up to seven small letters as a number; no two are the same."""
    return int.from_bytes(b"\1" + word.encode())


@compiled(**INSIDE)
def _quotient(number, power):  # type: ignore[no-untyped-def]
    """An integer over a power of ten, rounded once, and whether that is certain; the error is in a second double."""
    high = np.float64(number)
    low = np.float64(np.int64(number - np.uint64(high)))
    quotient = high / power
    product, wide = quotient * power, 134217729.0
    a, b = quotient * wide, power * wide
    a, b = a - (a - quotient), b - (b - power)  # the upper halves of their digits (Dekker, 1971)
    error = ((a * b - product) + a * (power - b) + (quotient - a) * b) + (quotient - a) * (power - b)
    rest = (((high - product) - error) + low) / power
    rounded = quotient + rest
    return rounded, rounded + (rest - (rounded - quotient)) * MARGIN == rounded


@compiled((TEXT, array(whole), array(whole), array(double), array(byte)))
def read_decimals(text, starts, ends, numbers, kinds):  # type: ignore[no-untyped-def]
    """Numbers such as -0.25 of up to 19 digits, to the last bit; ``kinds`` are those of the cells."""
    for i in range(starts.size):
        at, end = starts[i], ends[i]
        numbers[i], kinds[i] = np.nan, EMPTY if at == end else LEFT
        negative = at < end and text[at] == MINUS
        at += 1 if negative or (at < end and text[at] == PLUS) else 0
        number, digits, decimals, has_point, is_decimal = np.uint64(0), 0, 0, False, False
        while at < end:
            if ZERO <= text[at] <= NINE:
                number = number * np.uint64(10) + np.uint64(text[at] - ZERO)
                digits += 1 if number > 0 else 0
                decimals += 1 if has_point else 0
                is_decimal = True
            elif text[at] == POINT and not has_point:
                has_point = True
            else:
                is_decimal = False
                break
            at += 1
        if is_decimal and digits <= 19 and decimals < POWERS.size:
            value, is_certain = _quotient(number, POWERS[decimals])
            if is_certain and value < EXACT:
                numbers[i], kinds[i] = -value if negative else value, READ
