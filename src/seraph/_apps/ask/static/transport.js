// How the page talks to its session: by HTTP, or in a notebook through the widget around this frame.

export const host = frameElement?.host;
const PATIENCE = 20_000; // ms until we say that the kernel is busy

export class Problem extends Error {}

// Ask for something, or send a change; the value that comes back, or a Problem to show.
export async function request(path, body) {
  if (host) {
    const late = new Promise((done) => { setTimeout(done, PATIENCE, { problem: "The kernel does not answer: it is busy, or was started again. If so, run the cell again. Your answers are kept if they go to a file." }); });
    const { value, problem } = await Promise.race([host(path, body), late]);
    if (problem) throw new Problem(problem);
    return value;
  }
  let response;
  try {
    response = await fetch(path, body === undefined ? {} : {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
  } catch {
    throw new Problem("The server does not answer. Your answers are on disk: start the same command again, and open the address that it prints.");
  }
  const value = await response.json().catch(() => ({}));
  if (!response.ok) throw new Problem(value.problem ?? "This page belongs to an earlier run: open the address that the command printed last.");
  return value;
}

// Let an image or a sound show a file of the session's.
export async function load(node, path) {
  if (!host) node.src = path;
  else {
    const { value, data } = await host(path);
    node.src = data ? URL.createObjectURL(new Blob([data], { type: value })) : "data:,";
  }
  return node;
}
