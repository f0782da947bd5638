"""The table of moves agrees with the scripts and with the states."""

from echomq_worker.domain.job import State
from echomq_worker.domain.lifecycle import MOVES, NOWHERE, state_diagram
from echomq_worker.protocol.scripts import script, script_names

MOVING = {"enqueue", "schedule", "promote", "claim", "settle", "beat", "reap"} | {
    *("requeue", "remove", "reschedule", "promote_job", "reprioritize"),
    *("fire", "trigger_scheduler", "fire_repeats"),
    *("enqueue_unique", "drain", "claim_lane", "lane_drain", "lane_reap", "lane_reassign"),
}


def test_every_move_is_made_by_a_script_that_exists():
    for move in MOVES:
        assert set(move.scripts) <= set(script_names()), move


def test_every_script_that_moves_jobs_makes_a_move_of_the_table():
    assert {name for move in MOVES for name in move.scripts} == MOVING


def test_exactly_the_scripts_that_move_jobs_can_write_to_the_lifecycle_log():
    assert {name for name in script_names() if "log_size" in script(name).args} == MOVING


def test_every_place_of_the_table_is_a_state():
    places = {place for move in MOVES for place in (move.source, move.target)}

    assert places - {NOWHERE} <= {state.value for state in State}


def test_the_diagram_shows_every_move():
    drawn = state_diagram()

    assert all(f"{move.source} --> {move.target}: {move.cause}" in drawn for move in MOVES)
