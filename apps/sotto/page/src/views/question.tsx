// One declared question.
import { remove } from "../client";
import { load_plant, useShared } from "../store";
import { address, go } from "../route";
import { T } from "../texts";
import { Explorer } from "../parts/explorer";
import { Note } from "../parts/basic";
import { Confirm } from "../parts/confirm";

export function QuestionView({ name }: { name: string }) {
  const { plant } = useShared();
  const info = plant && Object.hasOwn(plant.questions, name) ? plant.questions[name] : undefined;
  if (!plant || !info) return <Note warn>{T.questions.unknown(name)}</Note>;
  return (
    <>
      <p class="crumb">
        <a href={address("questions")}>{T.views.questions}</a>
      </p>
      <div class="row spread">
        <h1>{name}</h1>
        {!plant.read_only && (
          <Confirm
            button={T.questions.remove}
            title={T.questions.remove_title(name)}
            text={T.questions.remove_text}
            typed={name}
            run={async () => {
              await remove(`/api/questions/${encodeURIComponent(name)}`);
              await load_plant(false);
              go("questions");
            }}
          />
        )}
      </div>
      <p class="text-of">{info.text}</p>
      {info.refused && <Note warn>{info.refused}</Note>}
      {!info.refused && <Explorer question={name} text={info.text} by={info.by} zooms={info.zooms} parameters={info.parameters} />}
    </>
  );
}
