"""Arguments as they are typed after `echomq job enqueue NAME`."""

import pytest

from echomq_worker.cli.payload import read_arguments
from echomq_worker.errors import InvalidArgumentError


def test_an_equals_sign_gives_a_text_and_a_colon_before_it_gives_json():
    given = ["to=a@b.c", "n:=3", "tags:=[1, null]", "flag:=true", 'text:="3"']

    assert read_arguments(given) == {
        "to": "a@b.c",
        "n": 3,
        "tags": [1, None],
        "flag": True,
        "text": "3",
    }


def test_a_text_may_be_empty_or_hold_equals_signs_and_colons():
    assert read_arguments(["a=", "b=x=y:=z"]) == {"a": "", "b": "x=y:=z"}


def test_an_object_of_json_gives_many_arguments_and_pairs_add_to_it():
    assert read_arguments(["b=2"], '{"a": [1]}') == {"a": [1], "b": "2"}


def test_no_arguments_are_fine():
    assert read_arguments([]) == {}


@pytest.mark.parametrize(
    ("pairs", "json_text", "complaint"),
    [
        (["to"], None, "expected name=text or name:=JSON"),
        (["=x"], None, "expected name=text"),
        ([":=1"], None, "expected name=text"),
        (["n:=abc"], None, "write n=... without the colon"),
        (["n:=NaN"], None, "NaN is not a number that JSON knows"),
        (['n:={"a":1,"a":2}'], None, "a name stands twice"),
        (["a=1", "a=2"], None, "'a' is given twice"),
        (["a=1"], '{"a": 2}', "'a' is given twice"),
        ([], "[1]", "--args is a list"),
        ([], "{", "--args is no JSON"),
        (["n:=" + "[" * 100_000], None, "is no JSON"),
    ],
)
def test_what_is_no_argument_is_refused_with_what_was_expected(
    pairs: list[str], json_text: str | None, complaint: str
):
    with pytest.raises(InvalidArgumentError) as caught:
        read_arguments(pairs, json_text)

    assert complaint in str(caught.value)
    assert len(str(caught.value)) < 300
