"""The package's public names are imported when they are used, and not before."""

import subprocess
import sys

import pytest

import echomq_worker


@pytest.mark.parametrize("name", echomq_worker.__all__)
def test_every_public_name_can_be_imported_from_the_package(name: str):
    assert getattr(echomq_worker, name) is not None


def test_an_unknown_name_is_an_attribute_error_that_names_it():
    with pytest.raises(AttributeError, match="no attribute 'enqueue_twice'"):
        echomq_worker.enqueue_twice  # noqa: B018


def test_the_package_lists_what_it_has_not_imported_yet():
    assert set(echomq_worker.__all__) <= set(dir(echomq_worker))


def test_importing_the_package_imports_none_of_its_parts():
    code = (
        "import sys, echomq_worker; print(*(m for m in sys.modules if m[:14] == 'echomq_worker.'))"
    )
    loaded = subprocess.run(  # noqa: S603
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.split()

    assert loaded == ["echomq_worker.version"]
