"""What the server refuses becomes an error of ours that says what to do, told apart by its code."""

import pytest

from echomq_worker.errors import (
    AccessError,
    EchoMQError,
    InvalidArgumentError,
    InvalidIdError,
    OutOfMemoryError,
    ServerError,
    UnavailableError,
    WrongTypeError,
)
from echomq_worker.store import Server
from echomq_worker.store.translate import OvertakenError, UnreachableError

IN_AN_OLDER_SERVERS_SCRIPT = "ERR Error running script (call to f_1a2b): @user_script:5: -"

REFUSALS: list[tuple[str, type[EchoMQError]]] = [
    ("LOADING the dataset is being loaded", UnavailableError),
    ("BUSY a script is running", UnavailableError),
    ("READONLY You can't write against a read only replica.", UnavailableError),
    ("MISCONF Errors writing to disk", UnavailableError),
    ("NOREPLICAS Not enough good replicas to write.", UnavailableError),
    ("MASTERDOWN Link with MASTER is down", UnavailableError),
    ("TRYAGAIN Multiple keys request during rehashing of slot", UnavailableError),
    ("CLUSTERDOWN The cluster is down", UnavailableError),
    ("UNBLOCKED instance state changed", UnavailableError),
    ("ERR max number of clients reached", UnreachableError),
    (f"{IN_AN_OLDER_SERVERS_SCRIPT}READONLY You can't write", UnavailableError),
    ("NOAUTH Authentication required.", AccessError),
    ("WRONGPASS invalid username-password pair", AccessError),
    ("NOPERM this user has no permissions", AccessError),
    ("ERR ACL failure in script: No permissions to access a key", AccessError),
    ("OOM command not allowed when used memory > 'maxmemory'.", OutOfMemoryError),
    (f"{IN_AN_OLDER_SERVERS_SCRIPT}OOM command not allowed", OutOfMemoryError),
    ("WRONGTYPE emq:{mail}:pending holds a string, expected a zset", WrongTypeError),
    ("EMQKIND job id must be JOB-namespaced", InvalidIdError),
    ("EMQARG limit is not a whole number in range", InvalidArgumentError),
    ("EMQLATE a later call has been answered", OvertakenError),
    ("ERR something else", ServerError),
    ("CROSSSLOT Keys in request don't hash to the same slot", ServerError),
]


async def refuse(server: Server, text: str) -> None:
    await server._command("EVAL", "return redis.error_reply(ARGV[1])", 0, text)


@pytest.mark.parametrize(("text", "kind"), REFUSALS)
async def test_a_refusal_is_told_by_its_code(server: Server, text: str, kind: type[EchoMQError]):
    with pytest.raises(EchoMQError) as caught:
        await refuse(server, text)

    assert type(caught.value) is kind
    assert text.rpartition(": -")[2].split(" ", 1)[1] in str(caught.value)


@pytest.mark.parametrize("queue", ["ROOM", "LOADING", "READONLY", "MISCONF", "EMQARG", "NOPERM"])
async def test_the_name_of_a_queue_does_not_change_what_an_error_is(server: Server, queue: str):
    with pytest.raises(WrongTypeError, match=queue):
        await refuse(server, f"WRONGTYPE emq:{{{queue}}}:pending holds a string, expected a zset")
