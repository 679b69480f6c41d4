export function QuestionView(_: { name?: string }) { return <h1>QuestionView</h1>; }
