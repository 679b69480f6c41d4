export function PlanView(_: { name?: string }) { return <h1>PlanView</h1>; }
