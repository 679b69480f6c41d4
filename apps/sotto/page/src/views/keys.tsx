export function KeysView(_: { name?: string }) { return <h1>KeysView</h1>; }
