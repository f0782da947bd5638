from typing import Any, Protocol

import pytest

from echomq_worker.domain.job import JobId
from echomq_worker.errors import (
    ArgumentsError,
    HandlerError,
    InvalidQueueError,
    UnknownHandlerError,
)
from echomq_worker.handlers import (
    INJECTED,
    JobContext,
    PeerPayloads,
    Registry,
    State,
    handler_options,
    named_handler,
    raw_handler,
)

CONTEXT = JobContext(id=JobId("JOB0NsUH6L9tuD"), queue="q", name="x", attempt=1, max_attempts=3)


def send(to: str, n: int = 1) -> tuple[str, int]:
    return to, n


def take(payload: bytes) -> bytes:
    return payload


def registry(*, raw: str | None = None, peers: PeerPayloads | None = None) -> Registry:
    made = Registry()
    made.add(named_handler(send, name="email.send", queue="mail", options=handler_options()))
    if raw is not None:
        made.add(raw_handler(take, queue=raw, options=handler_options()))
    if peers is not None:
        made.read_peers("orders", peers)
    return made


def run(registry: Registry, queue: str, payload: bytes) -> Any:
    handler = registry.find(queue, None, payload)
    return None if handler is None else handler.bind(payload, CONTEXT, None)()


def test_a_named_job_finds_its_handler_in_any_queue() -> None:
    handler = registry().find("elsewhere", "email.send", b"")
    assert handler is not None
    assert (handler.name, handler.queue) == ("email.send", "mail")


def test_a_name_that_is_not_known_finds_nothing_not_even_the_raw_handler() -> None:
    assert registry(raw="mail").find("mail", "emial.send", b"") is None


def test_a_job_without_a_name_goes_to_the_raw_handler_of_its_queue_as_bytes() -> None:
    assert run(registry(raw="orders"), "orders", b"\x00\xff") == b"\x00\xff"
    assert run(registry(raw="orders"), "mail", b"\x00\xff") is None


def test_a_payload_names_its_handler_in_a_field_among_the_arguments() -> None:
    known = registry(peers=PeerPayloads("type"))
    assert run(known, "orders", b'{"type":"email.send","to":"x","n":2}') == ("x", 2)
    assert run(known, "mail", b'{"type":"email.send","to":"x","n":2}') is None


def test_a_payload_may_keep_its_arguments_in_a_field() -> None:
    known = registry(peers=PeerPayloads("type", "data"))
    payload = b'{"type":"email.send","data":{"to":"x"},"trace":"t"}'
    assert run(known, "orders", payload) == ("x", 1)


def test_functions_may_find_name_and_arguments_in_any_format() -> None:
    def name_of(payload: bytes) -> str:
        return payload.split(b"|")[0].decode()

    def arguments_of(payload: bytes) -> bytes:
        return b'{"to":"%s"}' % payload.split(b"|")[1]

    known = registry(peers=PeerPayloads(name_of, arguments_of))
    assert run(known, "orders", b"email.send|x") == ("x", 1)


def test_a_function_that_finds_the_name_leaves_the_payload_to_be_the_arguments() -> None:
    known = registry(peers=PeerPayloads(lambda _: "email.send"))
    assert run(known, "orders", b'{"to":"x"}') == ("x", 1)


@pytest.mark.parametrize("payload", [b"", b"\xff", b"[]", b"{}", b'{"type":7}', b'{"type":null}'])
def test_a_payload_that_has_no_name_is_the_raw_handlers(payload: bytes) -> None:
    assert run(registry(raw="orders", peers=PeerPayloads("type")), "orders", payload) == payload
    assert run(registry(peers=PeerPayloads("type")), "orders", payload) is None


def test_a_payload_that_names_an_unknown_handler_is_not_the_raw_handlers() -> None:
    known = registry(raw="orders", peers=PeerPayloads("type"))
    assert run(known, "orders", b'{"type":"emial.send"}') is None


def test_a_payload_whose_arguments_are_missing_is_a_bad_payload() -> None:
    known = registry(peers=PeerPayloads("type", "data"))
    with pytest.raises(ArgumentsError, match=r"email.send: no arguments found in the payload"):
        run(known, "orders", b'{"type":"email.send"}')


def test_the_handler_of_a_named_payload_is_made_once() -> None:
    known = registry(peers=PeerPayloads("type"))
    payload = b'{"type":"email.send","to":"x"}'
    assert known.find("orders", None, payload) is known.find("orders", None, payload)


def test_a_name_is_registered_once() -> None:
    known = registry(raw="orders")
    with pytest.raises(HandlerError, match=r"email.send is registered twice: .*\.send"):
        known.add(named_handler(send, name="email.send", queue="q", options=handler_options()))
    with pytest.raises(HandlerError, match=r"the raw handler of queue orders is registered twice"):
        known.add(raw_handler(take, queue="orders", options=handler_options()))


def test_a_queue_says_once_how_its_payloads_are_named() -> None:
    known = registry(peers=PeerPayloads("type"))
    with pytest.raises(HandlerError, match="queue orders has its name_from already"):
        known.read_peers("orders", PeerPayloads("kind"))
    with pytest.raises(InvalidQueueError):
        known.read_peers("or ders", PeerPayloads("kind"))


def test_handlers_are_listed_by_name() -> None:
    known = registry(raw="orders")
    known.add(named_handler(send, name="a", queue="q", options=handler_options()))
    assert known.names() == ["a", "email.send"]
    assert [handler.label for handler in known.handlers()] == [
        "a",
        "email.send",
        "the raw handler of queue orders",
    ]


def test_asking_for_an_unknown_name_lists_the_known_ones() -> None:
    with pytest.raises(UnknownHandlerError, match=r"no handler 'x' here; known: email\.send"):
        registry().named("x")
    with pytest.raises(UnknownHandlerError, match="known: none"):
        Registry().named("x")


def test_a_raw_handler_takes_one_payload() -> None:
    def nothing() -> None: ...

    def two(payload: bytes, headers: bytes) -> None: ...

    for function in (nothing, two):
        with pytest.raises(HandlerError, match="must take one argument, the payload"):
            raw_handler(function, queue="orders", options=handler_options())


def test_a_raw_handler_takes_bytes_and_may_have_the_context() -> None:
    def text(payload: str) -> None: ...

    def with_context(payload: bytes, *, context: JobContext = INJECTED) -> Any:
        return payload, context

    with pytest.raises(HandlerError, match="annotated with bytes"):
        raw_handler(text, queue="orders", options=handler_options())
    handler = raw_handler(with_context, queue="orders", options=handler_options())
    assert handler.bind(b"x", CONTEXT, None)() == (b"x", CONTEXT)


class Pool: ...


class Speaks(Protocol):
    def speak(self) -> None: ...


@pytest.mark.parametrize(
    ("wanted", "state", "fits"),
    [
        (Pool, Pool(), True),
        (Pool, None, False),
        (Pool, {}, False),
        (dict[str, Pool], {}, True),
        (dict[str, Pool], Pool(), False),
        (Speaks, Pool(), True),
    ],
)
def test_the_state_is_compared_with_what_handlers_ask_for(
    wanted: Any, state: object, *, fits: bool
) -> None:
    def run(pool: Any = INJECTED) -> None: ...

    run.__annotations__["pool"] = State[wanted]
    known = registry()
    known.add(named_handler(run, name="run", queue="q", options=handler_options()))
    if fits:
        known.check_state(state)
    else:
        with pytest.raises(HandlerError, match=r"run asks for State\[.*\], but the app.* yields"):
            known.check_state(state)
