export function CloudView(_: { name?: string }) { return <h1>CloudView</h1>; }
