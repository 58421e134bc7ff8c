"""Turns external events into runs.

In the order of processing:

source_reader   reads one source and acknowledges committed events, as a background duty
webhooks        verifies signed requests to hooks and ingests their events
ingestion       stores each event once, matches it and creates runs, in one transaction
event_decisions decides what events become: runs at once, or batches that become runs later
run_factory     builds the runs of a job that waits for events
window_closing  creates the runs of batches whose window has closed, as a background duty
event_replay    matches stored events again
retention       deletes the keys of expired events, as a background duty
"""
