"""The arrays that outputs may have, by name, in the order in which they are written and digested."""

ROW_FIELDS = ("logits", "labels", "features", "shift", "domain", "ids", "given", "wrong")
HEAD_FIELDS = ("weight", "bias")
FIELDS = (*ROW_FIELDS, *HEAD_FIELDS)
