export function DeviceView(_: { name?: string }) { return <h1>DeviceView</h1>; }
