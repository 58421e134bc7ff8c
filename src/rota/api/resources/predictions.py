"""Operations for predictions: when will a job's run finish?"""

from rota.api import identifiers
from rota.api.call import Call, Reply
from rota.api.operations import operation
from rota.api.resources.endpoint_steps import read_job_row
from rota.api.schemas.field_types import format_optional_time, format_time
from rota.api.schemas.predictions import PredictionQuery, PredictionView
from rota.contract.expectation_values import parse_finish_by
from rota.core.access import Permission
from rota.core.alerts.conditions import FinishBy
from rota.core.errors import NotFound
from rota.engine.observability.predictions import RunPrediction, predict_job, predict_run


@operation(
    "GET",
    "/v1/jobs/{job_id}/prediction",
    tag="jobs",
    permission=Permission.READ,
    query=PredictionQuery,
    answer=PredictionView,
)
async def predict_job_finish(call: Call) -> Reply:
    """Predict when the unfinished run of a job, or its next tick, will finish.

    The prediction comes from the job's own history: its last runs, weekday and day of the month.
    With a deadline it includes the probability of success by then. With fewer than 15 successful
    runs there is no prediction, and `reason` says so.
    """
    row = await read_job_row(call)
    if row.run_id is not None:
        raise NotFound("prediction of the one-time submission", call.params["job_id"])
    prediction = await predict_job(
        call.conn,
        tenant_id=call.tenant_id,
        job_id=row.id,
        now=call.now,
        finish_by=read_deadline(call.query),
    )
    if prediction is None:
        raise NotFound("unfinished run or next tick of job", call.params["job_id"])
    return Reply(build_prediction_view(prediction))


@operation(
    "GET",
    "/v1/runs/{run_id}/prediction",
    tag="runs",
    permission=Permission.READ,
    query=PredictionQuery,
    answer=PredictionView,
)
async def predict_run_finish(call: Call) -> Reply:
    """Predict when an unfinished run of a job will finish."""
    prediction = await predict_run(
        call.conn,
        tenant_id=call.tenant_id,
        run_id=identifiers.parse_id("run_id", call.params["run_id"]),
        now=call.now,
        finish_by=read_deadline(call.query),
    )
    if prediction is None:
        raise NotFound("unfinished run of a job", call.params["run_id"])
    return Reply(build_prediction_view(prediction))


def read_deadline(query: PredictionQuery) -> FinishBy | None:
    return None if query.by is None else parse_finish_by(query.by, "by")


def build_prediction_view(prediction: RunPrediction) -> PredictionView:
    finish = prediction.finish
    run_id = prediction.run_id
    return PredictionView(
        job_id=identifiers.format_job_id(prediction.job_id),
        run_id=None if run_id is None else identifiers.format_run_id(run_id),
        scheduled_at=format_time(prediction.scheduled_at),
        due_at=format_time(prediction.due_at),
        started_at=format_optional_time(prediction.started_at),
        expected_at=format_optional_time(finish.expected_at),
        likely_by=format_optional_time(finish.likely_by),
        deadline=format_optional_time(prediction.deadline),
        probability=finish.probability,
        samples=finish.samples,
        basis=finish.basis,
        reason=finish.reason,
        sentence=prediction.sentence,
    )
