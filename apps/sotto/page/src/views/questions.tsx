export function QuestionsView(_: { name?: string }) { return <h1>QuestionsView</h1>; }
