// @ts-check
/**
 * Builds the tree of a run's steps. Pure.
 *
 * The server names the parent of each step: a branch, by its path ("import/mia"), or another step. Branches are no
 * steps, so a branch gets a node when a step first names it, in the place of its first step.
 */

/** @typedef {{ id: string, name: string, step: RunStep | null, below: Node[] }} Node */

/** @param {readonly RunStep[]} steps in the order of their start @returns {Node[]} */
export function treeOf(steps) {
  /** @type {Node[]} */
  const top = [];
  /** @type {Map<string, Node>} */
  const nodes = new Map();
  const parents = new Set(steps.flatMap(({ parentId }) => parentId ?? []));

  const add = (/** @type {string} */ id, /** @type {string | null} */ parentId, /** @type {RunStep | null} */ step) => {
    const node = { id, name: nameIn(parentId, id, step), step, below: [] };
    nodes.set(id, node);
    (parentId === null ? top : within(parentId).below).push(node);
    return node;
  };
  const within = (/** @type {string} */ id) => /** @type {Node} */ (nodes.get(id) ?? add(id, above(id, parents), null));

  for (const step of steps) {
    const branch = nodes.get(step.id);
    if (branch) branch.step = step;
    else add(step.id, step.parentId, step);
  }
  return top;
}

/** The longest known path that is a parent of this one. @param {string} id @param {Set<string>} known */
function above(id, known) {
  let end = id.lastIndexOf("/");
  while (end > 0 && !known.has(id.slice(0, end))) end = id.lastIndexOf("/", end - 1);
  return end > 0 ? id.slice(0, end) : null;
}

/**
 * The path of a node without its parent's path. It includes the number of a repeated step.
 * @param {string | null} parentId
 * @param {string} id
 * @param {RunStep | null} step
 */
function nameIn(parentId, id, step) {
  if (parentId !== null && id.startsWith(`${parentId}/`)) return id.slice(parentId.length + 1);
  return parentId === null ? id : (step?.name ?? id);
}
