// How the page talks to its session: the one place that another host, such as a notebook, replaces.

export class Problem extends Error {}

// Ask for something, or send a change; the value that comes back, or a Problem to show.
export async function request(path, body) {
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

export const imageOf = (row, size) => `image/${size}/${row}`;
export const soundOf = (row) => `sound/${row}`;
