export function AlarmsView(_: { name?: string }) { return <h1>AlarmsView</h1>; }
