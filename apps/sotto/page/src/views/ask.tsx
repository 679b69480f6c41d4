export function AskView(_: { name?: string }) { return <h1>AskView</h1>; }
