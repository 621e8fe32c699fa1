"""Errors name the remedy as its reader writes it: a keyword in Python, an option in a shell."""

import pickle

import pytest

import chsic
from chsic._util.errors import input_error, kind_setting, text_for_command_line

MANY = [f"{{}} {k}" for k in range(120)]  # categories, whose name and values look like templates
NUMBERS = list(range(120))


@pytest.mark.parametrize(
    ("arguments", "kind", "python", "option"),
    [
        (
            ({"a{0}": [None, *NUMBERS[1:]]}, NUMBERS),
            ValueError,
            "x, column a{0}: 1 of 120 samples are missing; use nan_policy='omit' to leave those "
            "rows out, nan_policy='level' to make missing a level of a category, or impute them.",
            "x, column a{0}: 1 of 120 samples are missing; use --nan-policy omit to leave those "
            "rows out, --nan-policy level to make missing a level of a category, or impute them.",
        ),
        (
            ({"it's": MANY}, NUMBERS),
            ValueError,
            "x, column it's: 120 categories (such as '{} 0', which is no number) are more than "
            "100; group rare ones, or correct what is no number and say so with "
            "kinds={\"it's\": 'number'}.",
            "x, column it's: 120 categories (such as '{} 0', which is no number) are more than "
            "100; group rare ones, or correct what is no number and say so with "
            '--numbers "it\'s".',
        ),
        (
            ({"ward": [object(), *NUMBERS[1:]]}, NUMBERS),
            TypeError,
            "correct it, or say what the column is with kinds={'ward': 'category'}.",
            "correct it, or say what the column is with --categories 'ward'.",
        ),
    ],
)
def test_both_forms_of_a_remedy(arguments, kind, python, option):
    with pytest.raises(kind) as caught:
        chsic.hsic_test(*arguments)
    assert type(caught.value) is kind  # as tracebacks name it
    assert str(caught.value).endswith(python)
    assert text_for_command_line(caught.value).endswith(option)


def test_such_an_error_crosses_processes():
    for kind in (ValueError, TypeError):
        error = input_error(kind, "x {}", "say {}.", kind_setting("{0}", "number"))
        copy = pickle.loads(pickle.dumps(error))
        assert type(copy) is kind
        assert str(copy) == str(error) == "x {}; say kinds={'{0}': 'number'}."
        assert text_for_command_line(copy) == "x {}; say --numbers '{0}'."
