"""Where settings come from and how wrong ones are refused. Proves the settings of O1 and O2."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from rota.config.loader import DEFAULT_FILES, load_settings
from rota.config.settings import Settings
from rota.core.errors import InvalidSetting

Write = Callable[[str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(text: str) -> Path:
        path = tmp_path / "rota.toml"
        path.write_text(text)
        return path

    return write


def given(
    environment: Mapping[str, str] | None = None,
    file: Path | None = None,
    flags: Mapping[str, Mapping[str, object]] | None = None,
) -> Settings:
    return load_settings(environment=environment or {}, file=file, flags=flags, default_files=())


def refusal(
    environment: Mapping[str, str] | None = None,
    file: Path | None = None,
    flags: Mapping[str, Mapping[str, object]] | None = None,
) -> InvalidSetting:
    with pytest.raises(InvalidSetting) as raised:
        given(environment, file, flags)
    return raised.value


class TestSources:
    def test_without_any_source_the_defaults_hold(self):
        assert given() == Settings()

    def test_later_sources_beat_earlier_ones_setting_by_setting(self, write: Write):
        file = write('[worker]\nslots = 1\nqueues = ["file"]\ndrain = "1s"\n[api]\nport = 1\n')
        environment = {"ROTA_WORKER__SLOTS": "2", "ROTA_WORKER__QUEUES": "variable"}
        flags = {"worker": {"slots": 3}}

        settings = given(environment, file, flags)

        assert settings.worker.slots == 3
        assert settings.worker.queues == ("variable",)
        assert settings.worker.drain == timedelta(seconds=1)
        assert settings.api.port == 1
        assert settings.log == Settings().log

    def test_the_file_that_a_flag_names_beats_the_one_that_a_variable_names(self, tmp_path: Path):
        flag, variable = tmp_path / "flag.toml", tmp_path / "variable.toml"
        flag.write_text("[api]\nport = 1")
        variable.write_text("[api]\nport = 2")
        environment = {"ROTA_CONFIG": str(variable)}

        assert given(environment, flag).api.port == 1
        assert given(environment).api.port == 2

    def test_the_first_place_with_a_file_is_read(self, tmp_path: Path):
        places = [tmp_path / name for name in ("absent.toml", "near.toml", "far.toml")]
        for port, place in enumerate(places[1:], start=1):
            place.write_text(f"[api]\nport = {port}")

        assert load_settings(environment={}, default_files=places).api.port == 1

    def test_the_places_are_the_current_folder_and_then_the_machine(self):
        assert [str(place) for place in DEFAULT_FILES] == ["rota.toml", "/etc/rota/rota.toml"]

    def test_a_flag_that_was_not_given_changes_nothing(self):
        assert given({"ROTA_API__PORT": "8080"}, flags={"api": {"port": None}}).api.port == 8080

    def test_flags_may_be_typed_or_text(self):
        flags: dict[str, dict[str, object]] = {
            "api": {"port": "8080"},
            "worker": {"drain": timedelta(minutes=2), "queues": ["a", "b"]},
            "scheduler": {"look_ahead": "2s"},
            "database": {"data": Path("elsewhere")},
        }

        settings = given(flags=flags)

        assert settings.api.port == 8080
        assert settings.worker.drain == timedelta(minutes=2)
        assert settings.worker.queues == ("a", "b")
        assert settings.scheduler.look_ahead == timedelta(seconds=2)
        assert settings.database.data == Path("elsewhere")

    def test_a_list_in_a_variable_is_separated_by_commas(self):
        assert given({"ROTA_WORKER__QUEUES": "mail, heavy,"}).worker.queues == ("mail", "heavy")

    @pytest.mark.parametrize("text", ["1h30m", "PT1H30M", "90m"])
    def test_durations_are_read_in_both_spellings(self, text: str, write: Write):
        expected = timedelta(hours=1, minutes=30)

        assert given({"ROTA_WORKER__DRAIN": text}).worker.drain == expected
        assert given(file=write(f'[worker]\ndrain = "{text}"')).worker.drain == expected

    def test_the_short_names_work(self):
        settings = given({"ROTA_DATABASE_URL": "postgresql://db/rota", "ROTA_DATA": "here"})

        assert settings.database.url == "postgresql://db/rota"
        assert settings.database.data == Path("here")

    def test_an_empty_variable_counts_as_absent(self):
        environment = {"ROTA_DATABASE_URL": "", "ROTA_API__PORT": "", "ROTA_CONFIG": ""}

        assert given(environment) == Settings()

    def test_foreign_variables_are_left_alone(self):
        assert given({"PATH": "/bin", "ROTATION": "1", "rota_api__port": "1"}) == Settings()

    def test_what_kubernetes_says_about_a_service_called_rota_is_left_alone(self):
        environment = {
            "ROTA_SERVICE_HOST": "10.0.0.1",
            "ROTA_SERVICE_PORT": "7070",
            "ROTA_SERVICE_PORT_HTTP": "7070",
            "ROTA_PORT": "tcp://10.0.0.1:7070",
            "ROTA_PORT_7070_TCP": "tcp://10.0.0.1:7070",
            "ROTA_PORT_7070_TCP_ADDR": "10.0.0.1",
            "ROTA_API_SERVICE_HOST": "10.0.0.2",
            "ROTA_API_PORT": "tcp://10.0.0.2:7070",
            "ROTA_API_PORT_7070_TCP_PROTO": "tcp",
        }

        assert given(environment) == Settings()


class TestUnknownNames:
    @pytest.mark.parametrize(
        ("text", "field", "hint"),
        [
            ("[worker]\nslot = 8", "worker.slot", "did you mean worker.slots?"),
            ("[wroker]\nslots = 8", "wroker", "did you mean worker?"),
            ("[scheduler]\nslots = 8", "scheduler.slots", "did you mean worker.slots?"),
            ("[log]\ncolour = true", "log.colour", "known settings of [log]: level, format"),
            ("[x]\ny = 1", "x", "known sections: database, scheduler, worker,"),
            ("slots = 8", "slots", "known sections: "),
        ],
    )
    def test_in_the_file(self, text: str, field: str, hint: str, write: Write):
        file = write(text)

        refused = refusal(file=file)

        assert refused.field == field
        assert hint in refused.wanted
        assert f"(in {file})" in refused.wanted

    @pytest.mark.parametrize(
        ("variable", "field", "hint"),
        [
            ("ROTA_WORKER__SLOT", "worker.slot", "did you mean ROTA_WORKER__SLOTS?"),
            ("ROTA_WORKER_SLOTS", "worker_slots", "did you mean ROTA_WORKER__SLOTS?"),
            ("ROTA_API_PORT", "api_port", "did you mean ROTA_API__PORT?"),
            ("ROTA_DATABASE_ULR", "database_ulr", "did you mean ROTA_DATABASE_URL?"),
            ("ROTA_LOG__LEVEL__X", "log.level__x", "did you mean ROTA_LOG__LEVEL?"),
            ("ROTA_WORKER__", "worker.", "known settings of [worker]: queues, slots"),
            ("ROTA_ZEBRA", "zebra", "two underscores"),
            ("ROTA_", "", "two underscores"),
        ],
    )
    def test_in_a_variable(self, variable: str, field: str, hint: str):
        refused = refusal({variable: "8"})

        assert refused.field == field
        assert refused.value == variable
        assert hint in refused.wanted
        assert f"(in {variable})" in refused.wanted

    def test_in_a_flag(self):
        refused = refusal(flags={"worker": {"slot": 8}})

        assert refused.field == "worker.slot"
        assert "(on the command line)" in refused.wanted


class TestRemovedNames:
    @pytest.mark.parametrize("name", ["pool_min", "pool_max"])
    def test_a_removed_setting_says_what_to_do(self, write: Write, name: str):
        in_file = refusal(file=write(f"[database]\n{name} = 3\n"))
        in_variable = refusal({f"ROTA_DATABASE__{name.upper()}": "3"})

        for refused in (in_file, in_variable):
            assert refused.field == f"database.{name}"
            assert "was removed because it never had an effect; delete it" in refused.wanted
            assert "api.connections" in refused.wanted
        assert "rota.toml" in in_file.wanted
        assert f"in ROTA_DATABASE__{name.upper()}" in in_variable.wanted


class TestForever:
    def test_a_duration_may_be_the_word_forever_where_that_means_something(self, write: Write):
        by_default = given().database.wait_at_start
        in_variable = given({"ROTA_DATABASE__WAIT_AT_START": "forever"}).database.wait_at_start
        in_file = given(file=write('[database]\nwait_at_start = "forever"\n')).database

        assert by_default == in_variable == in_file.wait_at_start == timedelta.max

    @pytest.mark.parametrize("value", ["0s", "5m", "30d"])
    def test_it_may_be_a_duration_too(self, value: str):
        assert given({"ROTA_DATABASE__WAIT_AT_START": value}).database.wait_at_start < timedelta(31)

    @pytest.mark.parametrize("value", ["for ever", "10", "-1s", "400d"])
    def test_what_is_neither_is_refused_with_both(self, value: str):
        refused = refusal({"ROTA_DATABASE__WAIT_AT_START": value})

        assert 'must be "forever", or a duration from' in refused.wanted

    def test_elsewhere_it_is_refused(self):
        assert refusal({"ROTA_WORKER__DRAIN": "forever"}).field == "worker.drain"


class TestWrongValues:
    @pytest.mark.parametrize(
        ("line", "field", "wanted"),
        [
            ("worker.slots = 0", "worker.slots", "a whole number from 1 to 10000"),
            ("worker.slots = 10001", "worker.slots", "a whole number from 1 to 10000"),
            ('worker.slots = "8"', "worker.slots", "a whole number"),
            ("worker.slots = 8.5", "worker.slots", "a whole number"),
            ("worker.slots = true", "worker.slots", "a whole number"),
            ("worker.queues = []", "worker.queues", "a list of queue names"),
            ('worker.queues = "mail"', "worker.queues", "a list of queue names"),
            ('worker.queues = ["Mail!"]', "worker.queues", "a list of queue names"),
            ('worker.queues = ["mail\\n"]', "worker.queues", "a list of queue names"),
            ("worker.drain = 30", "worker.drain", "a duration from 0 seconds to 1 day"),
            ('worker.drain = "30"', "worker.drain", 'such as "30s"'),
            ('worker.drain = "2d"', "worker.drain", "a duration from 0 seconds to 1 day"),
            ('retention.runs = "1h"', "retention.runs", "a duration from 1 day to 3650 days"),
            ('api.host = ""', "api.host", "an address or host name"),
            ("api.port = 65536", "api.port", "a whole number from 0 to 65535"),
            ('log.level = "loud"', "log.level", "one of debug, info, warning, error"),
            ('database.data = "~/rota"', "database.data", "the full path of a folder"),
            ('database.data = ""', "database.data", "the full path of a folder"),
            ("database.data = 7", "database.data", "the full path of a folder"),
            ("worker = 3", "worker", "[worker] is a section"),
        ],
    )
    def test_in_the_file(self, line: str, field: str, wanted: str, write: Write):
        file = write(line)

        refused = refusal(file=file)

        assert refused.field == field
        assert wanted in refused.wanted
        assert f"in {file})" in refused.wanted

    @pytest.mark.parametrize(
        ("variable", "value", "field"),
        [
            ("ROTA_WORKER__SLOTS", "many", "worker.slots"),
            ("ROTA_WORKER__SLOTS", "0", "worker.slots"),
            ("ROTA_WORKER__QUEUES", ",", "worker.queues"),
            ("ROTA_WORKER__DRAIN", "5", "worker.drain"),
            ("ROTA_LOG__FORMAT", "xml", "log.format"),
            ("ROTA_API__PORT", "tcp:10.0.0.1", "api.port"),
            ("ROTA_DATA", "~/rota", "database.data"),
        ],
    )
    def test_in_a_variable(self, variable: str, value: str, field: str):
        refused = refusal({variable: value})

        assert refused.field == field
        assert refused.value == value
        assert refused.wanted.startswith("must be ")
        assert f"(set in {variable})" in refused.wanted

    def test_in_a_flag(self):
        refused = refusal(flags={"api": {"port": -1}})

        assert (refused.field, refused.value) == ("api.port", -1)
        assert "(set on the command line)" in refused.wanted

    def test_two_names_for_the_same_setting(self):
        refused = refusal(
            {"ROTA_DATABASE_URL": "postgres://a", "ROTA_DATABASE__URL": "postgres://b"}
        )

        assert refused.field == "database.url"
        assert "set either ROTA_DATABASE_URL or ROTA_DATABASE__URL, not both" in refused.wanted


class TestFiles:
    def test_a_file_that_was_asked_for_must_exist(self, tmp_path: Path):
        refused = refusal(file=tmp_path / "absent.toml")

        assert refused.field == "config"
        assert refused.value == str(tmp_path / "absent.toml")
        assert "No such file" in refused.wanted

    def test_a_folder_is_not_a_file(self, tmp_path: Path):
        assert "Is a directory" in refusal({"ROTA_CONFIG": str(tmp_path)}).wanted

    def test_a_file_that_is_not_toml_is_refused_with_the_place(self, write: Write):
        refused = refusal(file=write("[worker\nslots = 8"))

        assert refused.field == "config"
        assert "line 1" in refused.wanted

    def test_a_file_that_is_not_utf_8_is_refused(self, tmp_path: Path):
        file = tmp_path / "rota.toml"
        file.write_bytes(b'x = "\xff"')

        assert "not UTF-8" in refusal(file=file).wanted


class TestSecrets:
    @pytest.mark.parametrize(
        "environment",
        [
            {"ROTA_DATABASE_URL": "mysql://rota:hunter2@db/rota"},
            {"ROTA_DATABASE_URL": "rota:hunter2 db"},
            {"ROTA_DATABASE_URL": "host=db password=hunter2"},
            {"ROTA_DATABASE_ULR": "postgresql://rota:hunter2@db/rota"},
            {"ROTA_WORKER__QUEUES": "postgresql://rota:hunter2@db/rota"},
            {"ROTA_LOG__LEVEL": "postgresql://rota:hunter2@db/rota"},
            {"ROTA_LOG__LEVEL": "rota:hunter2@db"},
            {"ROTA_WORKER__DRAIN": "postgresql://rota:hunter2@db/rota"},
            {
                "ROTA_DATABASE_URL": "postgresql://rota:hunter2@db/rota",
                "ROTA_DATABASE__URL": "postgresql://rota:hunter2@db/rota",
            },
        ],
    )
    def test_no_refusal_of_a_variable_shows_a_password(self, environment: dict[str, str]):
        refused = refusal(environment)

        assert "hunter2" not in str(refused)
        assert "hunter2" not in repr(refused)
        assert refused.__cause__ is None

    @pytest.mark.parametrize(
        "text",
        [
            'database = "postgresql://rota:hunter2@db/rota"',
            'database.url = ["postgresql://rota:hunter2@db/rota"]',
            'database.urls = "postgresql://rota:hunter2@db/rota"',
            'database.url = "postgresql://rota:hunter2@db/rota',
            'databse.url = "postgresql://rota:hunter2@db/rota"',
        ],
    )
    def test_no_refusal_of_a_file_shows_a_password(self, text: str, write: Write):
        assert "hunter2" not in str(refusal(file=write(text)))

    def test_printing_the_settings_shows_no_password(self):
        settings = given({"ROTA_DATABASE_URL": "postgresql://rota:hunter2@db/rota"})

        assert "hunter2" not in repr(settings)
        assert "***" in repr(settings)


class TestContradictions:
    @pytest.mark.parametrize(
        ("environment", "field", "wanted"),
        [
            (
                {"ROTA_SCHEDULER__RENEW_EVERY": "3s", "ROTA_SCHEDULER__STOP_AFTER": "4s"},
                "scheduler.renew_every",
                "a third of scheduler.lease, 2 seconds (set in ROTA_SCHEDULER__RENEW_EVERY)",
            ),
            (
                {"ROTA_SCHEDULER__LEASE": "3s"},
                "scheduler.renew_every",
                "at most a third of scheduler.lease, 1 second (set by default)",
            ),
            (
                {"ROTA_WORKER__STOP_AFTER": "8s"},
                "worker.stop_after",
                "at most seven tenths of worker.lease, 7 seconds",
            ),
            (
                {"ROTA_WORKER__STOP_AFTER": "3s"},
                "worker.stop_after",
                "at least twice worker.beat_every, 4 seconds",
            ),
            (
                {"ROTA_WORKER__BREAKER_LONGEST": "5s"},
                "worker.breaker_longest",
                "at least worker.breaker_pause, 10 seconds",
            ),
        ],
    )
    def test_settings_that_do_not_go_together(
        self, environment: dict[str, str], field: str, wanted: str
    ):
        """F21: a lease whose renewal has no margin flaps."""
        refused = refusal(environment)

        assert refused.field == field
        assert wanted in refused.wanted

    def test_a_consistent_change_of_all_three_is_accepted(self):
        scheduler = given(
            {
                "ROTA_SCHEDULER__LEASE": "3s",
                "ROTA_SCHEDULER__RENEW_EVERY": "1s",
                "ROTA_SCHEDULER__STOP_AFTER": "2s",
            }
        ).scheduler

        assert scheduler.lease == timedelta(seconds=3)


def test_a_refusal_is_one_sentence_that_a_person_can_act_on():
    refused = refusal({"ROTA_WORKER__SLOTS": "many"})

    assert str(refused) == (
        "worker.slots: 'many' is invalid: "
        "must be a whole number from 1 to 10000 (set in ROTA_WORKER__SLOTS)"
    )


def test_a_path_that_may_be_left_out_is_read_like_any_other() -> None:
    left_out = load_settings(environment={}, default_files=())
    given = load_settings(environment={"ROTA_DATABASE__BINARIES": "/opt/pg/bin"}, default_files=())

    assert left_out.database.binaries is None
    assert given.database.binaries == Path("/opt/pg/bin")
    with pytest.raises(InvalidSetting, match=r"database\.binaries"):
        load_settings(environment={"ROTA_DATABASE__BINARIES": "~/pg"}, default_files=())
