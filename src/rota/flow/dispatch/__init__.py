"""Dispatch: waiting runs become claimed runs of this worker, for free slots only. Room: flow."""
