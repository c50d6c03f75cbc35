// A notebook's view of `seraph ask`: the page in a frame of its own, whose requests go to the kernel.

function render({ model, el }) {
  const view = Math.random().toString(36).slice(2); // another view has requests of its own
  const asked = new Map();
  const receive = ({ id, ...reply }, buffers) => {
    asked.get(id)?.({ ...reply, data: buffers?.[0] });
    asked.delete(id);
  };
  model.on("msg:custom", receive);
  const frame = document.createElement("iframe");
  frame.title = "seraph ask";
  frame.style.cssText = "display: block; width: 100%; height: min(52rem, 88vh); border: 0; resize: vertical; color-scheme: auto";
  frame.host = (path, body) => new Promise((done) => {
    const id = `${view}-${asked.size}-${performance.now()}`;
    asked.set(id, done);
    model.send({ id, path, body });
  });
  frame.host("page").then(({ value }) => { frame.srcdoc = value; });
  el.append(frame);
  return () => model.off("msg:custom", receive);
}

export default { render };
