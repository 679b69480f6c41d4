// The licence texts of the parts inside the program, as the server has them.
import { useState } from "preact/hooks";
import { get_text } from "../client";
import { T } from "../texts";
import { Dialog, Fault, useLoad } from "./basic";

export function Licences({ version }: { version: string }) {
  const [open, set_open] = useState(false);
  return (
    <>
      <button class="quiet small" onClick={() => set_open(true)}>
        {T.frame.version(version)}
      </button>
      {open && (
        <Dialog title={T.frame.licences} close={() => set_open(false)} wide>
          <Texts />
        </Dialog>
      )}
    </>
  );
}

function Texts() {
  const texts = useLoad("licences", () => get_text("/api/licences"));
  return (
    <>
      {texts.fault && <Fault refusal={texts.fault} />}
      <pre class="licences" tabIndex={0}>
        {texts.value ?? ""}
      </pre>
    </>
  );
}
