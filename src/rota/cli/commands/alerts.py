"""`rota alerts`: incidents, messages, channels, rules, routes and rehearsals of alerts."""

from cyclopts import App

from rota.cli.commands import incidents
from rota.cli.commands.alert_rules import rehearse, routes_app, rules_app

app = App(name="alerts", help="Alerts: list, show, ack, resolve, rules, routes.")
app.command(incidents.list_incidents, name="list")
app.command(incidents.show)
app.command(incidents.ack)
app.command(incidents.resolve)
app.command(incidents.add_note, name="note")
app.command(incidents.list_messages, name="messages")
app.command(incidents.list_channels, name="channels")
app.command(incidents.send_test, name="test")
app.command(rules_app)
app.command(routes_app)
app.command(rehearse)
