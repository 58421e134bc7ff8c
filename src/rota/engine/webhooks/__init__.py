"""Webhooks: events are matched with subscriptions, and delivered as signed requests.

subscriber  inserts events and deliveries in the transaction of the relay
deliverer   sends due deliveries and records the results
pruner      deletes old events and deliveries
"""
