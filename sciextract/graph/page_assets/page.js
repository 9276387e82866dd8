"use strict";

// The content: lists in the order of the fields in page.py.
const content = JSON.parse(document.getElementById("content").textContent);
const papers = content.papers.map(([key, year, title, venue, doi], index) => ({ index, key, year, title, venue, doi }));
const nodes = content.nodes.map(([name, type, topic, alone, documents, extracted, mentions, generic, types, years, aliases, papers], index) =>
  ({ index, name, type, topic, alone, documents, extracted, mentions, generic, types, years, aliases, papers, edges: [], tied: false, x: null, y: null }));
// What abstracts name together: it pulls nodes together in the picture, and is not drawn.
const ties = content.ties.map(([one, two, times]) => ({ key: `t${one}-${two}`, one: nodes[one], two: nodes[two], times }));
if (content.centre === null) for (const { one, two } of ties) one.tied = two.tied = true;
// In a small graph no circle is large.
const mostExtracted = nodes.reduce((most, node) => Math.max(most, node.extracted), 20);
const edges = content.edges.map(([head, tail, relation, documents, mentions, score, years, sentences], index) =>
  ({ index, head: nodes[head], tail: nodes[tail], relation, documents, mentions, score, years,
    sentences: sentences.map(([paper, text, headStart, headEnd, tailStart, tailEnd, score]) =>
      ({ paper: papers[paper], text: content.texts[text], head: [headStart, headEnd], tail: [tailStart, tailEnd], score })) }));
for (const edge of edges) {
  edge.head.edges.push(edge);
  if (edge.tail !== edge.head) edge.tail.edges.push(edge);
}

const NODE_COLOURS = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#0072b2", "#c9bb1c", "#999999"];
const FEW_NODES = 150;        // so many nodes and edges are shown at first
const FEW_EDGES = 400;
const MOST_NEIGHBOURS = 40;   // so many of a chosen node are shown although filters hide them
const MOST_NAMES = 200;       // names in the picture at one time
const MANY_EDGES = 2000;      // from so many on, edges that do not stand out are thin lines, quick without a graphics card
const SMALL_LAYOUT = 500;     // up to so many nodes are laid out at once, more in the background
const BACKGROUND_SECONDS = 8;

const get = id => document.getElementById(id);
const count = (number, word) => number.toLocaleString("en") + " " + word + (number === 1 ? "" : "s");

// Elements are made of text only: nothing from an abstract is ever read as markup.
function add(parent, tag, text = "", attributes = {}) {
  const element = document.createElement(tag);
  element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  parent.appendChild(element);
  return element;
}

// ---- Filters

const everyYear = [...new Set(papers.map(paper => paper.year).filter(year => year !== null))].sort((a, b) => a - b);
let byTopic = content.topics.length > 0;   // whether colours tell subtopics, not types
const filters = { types: new Set(content.types.keys()), relations: new Set(content.relations.keys()),
  from: null, until: null, leastNode: 1, leastEdge: 1, generic: false };

// Abstracts in the years that are chosen; without a choice those of unknown years count as well.
function inYears(item) {
  if (filters.from === null && filters.until === null) return item.documents;
  const from = filters.from ?? -Infinity, until = filters.until ?? Infinity;
  return item.years.reduce((sum, [year, documents]) => sum + (from <= year && year <= until ? documents : 0), 0);
}

function passes(node) {
  return (filters.generic || !node.generic) && filters.types.has(node.type) && inYears(node) >= filters.leastNode;
}

// The edges to show, with their nodes. Of a chosen node some neighbours show whatever their types and counts.
function wanted() {
  const shownNodes = new Set(), shownEdges = new Set();
  const fits = (edge, least) => filters.relations.has(edge.relation) && inYears(edge) >= least;
  const show = edge => { shownEdges.add(edge); shownNodes.add(edge.head).add(edge.tail); };
  const passing = new Set(nodes.filter(passes));
  for (const node of passing) if (node.tied) shownNodes.add(node);
  for (const edge of edges) if (passing.has(edge.head) && passing.has(edge.tail) && fits(edge, filters.leastEdge)) show(edge);
  for (const node of chosenNodes()) {
    shownNodes.add(node);
    node.edges.filter(edge => fits(edge, 1)).slice(0, MOST_NEIGHBOURS).forEach(show);
  }
  return { shownNodes, shownEdges };
}

function chosenNodes() {
  return chosen.node ? [chosen.node] : chosen.edge ? [chosen.edge.head, chosen.edge.tail] : [];
}

// The smallest counts that leave few nodes and edges, so that the first picture can be read.
function setFirstFilters() {
  const specific = nodes.filter(node => !node.generic);
  if (content.centre === null && specific.length > FEW_NODES) filters.leastNode = specific[FEW_NODES].alone + 1;
  while (wanted().shownEdges.size > FEW_EDGES) filters.leastEdge += 1;
  if (!wanted().shownEdges.size) Object.assign(filters, { leastNode: 1, leastEdge: 1, generic: true });
  get("generic").checked = filters.generic;
  get("least-node").value = filters.leastNode;
  get("least-edge").value = filters.leastEdge;
}

function makeFilters() {
  const counted = (items, field) => {
    const counts = new Map();
    for (const item of items) counts.set(item[field], (counts.get(item[field]) ?? 0) + 1);
    return counts;
  };
  makeBoxes(get("types"), content.types, counted(nodes, "type"), filters.types, true);
  get("topics-box").hidden = !content.topics.length;
  for (const [index, title] of content.topics.entries()) {
    if (index >= NODE_COLOURS.length - 1) break;   // the last colour is that of all others
    const line = add(get("topics"), "p");
    dot(line, NODE_COLOURS[index]);
    line.append(title);
  }
  get("by-topic").checked = byTopic;
  get("by-topic").addEventListener("change", () => { byTopic = get("by-topic").checked; show(); });
  makeBoxes(get("relations"), content.relations, counted(edges, "relation"), filters.relations, false);
  for (const id of ["from", "until"]) {
    const field = get(id);
    field.disabled = everyYear.length === 0;
    field.min = everyYear[0] ?? "";
    field.max = everyYear.at(-1) ?? "";
    field.placeholder = (id === "from" ? field.min : field.max) || "?";
    field.addEventListener("input", () => { setYear(id, field.value); filtersChanged(); });
  }
  const growth = get("growth");
  growth.disabled = everyYear.length < 2;
  [growth.min, growth.max] = [everyYear[0] ?? 0, everyYear.at(-1) ?? 0];
  growth.value = growth.max;
  growth.addEventListener("input", () => { get("until").value = growth.value; setYear("until", growth.value); filtersChanged(false); });
  for (const [id, name] of [["least-node", "leastNode"], ["least-edge", "leastEdge"]]) {
    get(id).addEventListener("input", () => { filters[name] = Math.max(Number(get(id).value) || 1, 1); filtersChanged(); });
  }
  get("generic").addEventListener("change", () => { filters.generic = get("generic").checked; filtersChanged(); });
  setFirstFilters();
  get("everything").addEventListener("click", showEverything);
  get("filters").addEventListener("submit", event => event.preventDefault());
}

function setYear(id, year) {
  filters[id] = year === "" ? null : Number(year);
  if (id === "until") get("growth").value = filters.until ?? everyYear.at(-1) ?? 0;
}

function makeBoxes(parent, names, counts, set, coloured) {
  for (const index of [...counts.keys()].sort((a, b) => counts.get(b) - counts.get(a))) {
    const label = add(parent, "label");
    const box = add(label, "input", "", { type: "checkbox" });
    box.checked = true;
    box.addEventListener("change", () => {
      if (box.checked) set.add(index); else set.delete(index);
      filtersChanged();
    });
    const words = add(label, "span");
    if (coloured) dot(words, nodeColour({ type: index }, false));
    words.append(names[index] + " ");
    add(label, "small", counts.get(index).toLocaleString("en"));
  }
}

function showEverything() {
  Object.assign(filters, { from: null, until: null, leastNode: 1, leastEdge: 1, generic: true });
  for (const name of ["types", "relations"]) content[name].forEach((_, index) => filters[name].add(index));
  for (const box of document.querySelectorAll("#types input, #relations input, #generic")) box.checked = true;
  for (const id of ["from", "until"]) { get(id).value = ""; setYear(id, ""); }
  for (const id of ["least-node", "least-edge"]) get(id).value = 1;
  filtersChanged();
}

let waiting = null;
function filtersChanged(toFit = true) {
  clearTimeout(waiting);
  waiting = setTimeout(() => {
    update();
    if (!location.hash) describeGraph();
    if (toFit) fit();
  }, 150);
}

// ---- The picture

function nodeColour({ type, topic }, topics = byTopic) {
  return topics ? NODE_COLOURS[Math.min(topic ?? Infinity, NODE_COLOURS.length - 1)] : NODE_COLOURS[type % NODE_COLOURS.length];
}
const graph = new library.MultiDirectedGraph();
let renderer = null, layout = null, hovered = null, lit = null, palette = {}, drawnEdges = 0;
const chosen = { node: null, edge: null, paper: null };

function dot(parent, colour) {
  add(parent, "span", "", { class: "dot" }).style.background = colour;
}

function readPalette() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["text", "edge", "faded", "strong", "halo", "back"]) palette[name] = style.getPropertyValue("--" + name).trim();
}

// Brings the picture in line with filters and choice, and lays out what has come in.
function update() {
  const { shownNodes, shownEdges } = wanted();
  graph.forEachEdge((key, { edge }) => { if (edge && !shownEdges.has(edge)) graph.dropEdge(key); });
  graph.forEachNode((key, { node }) => { if (!shownNodes.has(node)) graph.dropNode(key); });
  const before = graph.order;
  for (const node of shownNodes) {
    if (graph.hasNode(node.index)) { graph.setNodeAttribute(node.index, "size", radius(node)); continue; }
    place(node);
    graph.addNode(node.index, { node, x: node.x, y: node.y, size: radius(node) });
  }
  for (const { key, one, two, times } of ties) {
    if (!graph.hasNode(one.index) || !graph.hasNode(two.index) || graph.hasEdge(key)) continue;
    graph.addDirectedEdgeWithKey(key, one.index, two.index, { edge: null, size: 0, weight: 1 + Math.log2(times), type: "thin" });
  }
  const drawnBefore = drawnEdges;
  drawnEdges = shownEdges.size;
  for (const edge of shownEdges) {
    if (graph.hasEdge(edge.index)) continue;
    const width = Math.min(0.9 + 0.8 * Math.log2(edge.documents), 5);
    graph.addDirectedEdgeWithKey(edge.index, edge.head.index, edge.tail.index,
      { edge, size: width, weight: ties.length ? 0.3 : width, type: content.symmetric[edge.relation] ? "line" : "arrow" });
  }
  get("status").textContent = `${graph.order.toLocaleString("en")} of ${count(nodes.length, "node")}, `
    + `${drawnEdges.toLocaleString("en")} of ${count(edges.length, "edge")}`
    + (content.centre === null && edges.length < content.all_edges ? ` (the best supported of ${content.all_edges.toLocaleString("en")})` : "");
  ranked = null;
  if (renderer) renderer.setSetting("enableEdgeEvents", drawnEdges <= MANY_EDGES);
  if (graph.order > before || drawnEdges > drawnBefore) arrange();
  light();
}

// By the abstracts in which the model found it, as far as they lie in the chosen years.
function radius(node) {
  const share = node.documents ? inYears(node) / node.documents : 0;
  return 3 + 15 * Math.sqrt(node.extracted * share / mostExtracted);
}

// A new node starts near its neighbours in the picture, else on a spiral; always at the same place.
function place(node) {
  if (node.x !== null) return;
  const near = node.edges.map(edge => edge.head === node ? edge.tail : edge.head).filter(other => other.x !== null);
  const angle = node.index * 2.39996, far = near.length ? 3 : 10 * Math.sqrt(node.index + 1);
  const mean = axis => near.reduce((sum, other) => sum + other[axis], 0) / (near.length || 1);
  node.x = mean("x") + far * Math.cos(angle);
  node.y = mean("y") + far * Math.sin(angle);
}

function arrange() {
  stopLayout();
  if (graph.order < 2) return;
  // Hubs push each other apart, so that clusters show.
  const settings = { ...library.forceAtlas2.inferSettings(graph), outboundAttractionDistribution: true };
  if (graph.order <= SMALL_LAYOUT) {
    library.forceAtlas2.assign(graph, { iterations: 250, settings });
    keepApart();
    keepPlaces();
    return;
  }
  layout = new library.LayoutWorker(graph, { settings });
  layout.start();
  layout.end = setTimeout(stopLayout, 1000 * BACKGROUND_SECONDS);
}

// Moves nodes that lie over each other; their sizes are pixels, of which the picture is about 700 high and wide.
function keepApart() {
  const across = axis => graph.reduceNodes((most, _, place) => Math.max(most, Math.abs(place[axis])), 1);
  const pixel = 2 * Math.max(across("x"), across("y")) / 700;
  library.noverlap.assign(graph, { maxIterations: 100, settings: { margin: 6 * pixel, gridSize: 10 },
    inputReducer: (_, { x, y, size }) => ({ x, y, size: size * pixel }) });
}

function stopLayout() {
  if (!layout) return;
  clearTimeout(layout.end);
  layout.kill();
  layout = null;
  keepPlaces();
}

function keepPlaces() {
  graph.forEachNode((_, { node, x, y }) => { node.x = x; node.y = y; });
}

// Which nodes and edges stand out: those around what the pointer is on, else around what is chosen.
function light() {
  const node = (drawnEdges <= MANY_EDGES && hovered) || chosen.node;
  const some = node ? node.edges : chosen.edge ? [chosen.edge] : chosen.paper ? edgesOf(chosen.paper) : null;
  lit = some && { edges: new Set(some), nodes: new Set(some.flatMap(edge => [edge.head, edge.tail])) };
  if (lit && node) lit.nodes.add(node);
  if (renderer) renderer.refresh({ skipIndexation: true });
}

function drawnNode(_, { node, x, y, size }) {
  const faded = lit && !lit.nodes.has(node);
  const colour = faded ? palette.faded : nodeColour(node);
  return { x, y, size, color: colour, zIndex: faded ? 0 : 1 };
}

function drawnEdge(_, { edge, size, type }) {
  if (!edge) return { hidden: true };
  const on = lit && lit.edges.has(edge);
  const thin = drawnEdges > MANY_EDGES && !on;
  return { size, type: thin ? "thin" : type, color: on ? palette.strong : lit ? palette.faded : palette.edge, zIndex: on ? 1 : 0 };
}

// Names: those of the most frequent nodes first, none over another, as large at every zoom.
let ranked = null;
function drawNames() {
  const canvas = renderer.getCanvases().labels.getContext("2d");
  const { width, height } = renderer.getDimensions();
  ranked ??= graph.mapNodes((_, { node }) => node).sort((a, b) => a.generic - b.generic || b.alone - a.alone || a.index - b.index);
  const important = lit ? [...lit.nodes].filter(node => graph.hasNode(node.index)) : [];
  const first = [hovered, ...chosenNodes()].filter(node => node && graph.hasNode(node.index));
  const taken = [];
  canvas.textBaseline = "middle";
  canvas.lineJoin = "round";
  if (byTopic && !lit) taken.push(...drawRegions(canvas));
  const seen = new Set();
  for (const node of [...first, ...important, ...(lit ? [] : ranked)]) {
    if (taken.length >= MOST_NAMES) break;
    if (seen.has(node)) continue;
    seen.add(node);
    const drawn = renderer.getNodeDisplayData(String(node.index));
    if (!drawn) continue;
    const at = renderer.framedGraphToViewport(drawn), radius = renderer.scaleSize(drawn.size);
    if (at.x < -200 || at.x > width + 20 || at.y < 0 || at.y > height) continue;
    const bold = first.includes(node);
    canvas.font = (bold ? "bold " : "") + "13px sans-serif";
    const name = node.name.length > 40 && !bold ? node.name.slice(0, 39) + "…" : node.name;
    const wide = canvas.measureText(name).width + 4, right = at.x + radius + 2;
    const left = right + wide > width ? at.x - radius - 2 - wide : right;
    const box = { left, top: at.y - 8, right: left + wide, bottom: at.y + 8 };
    if (!bold && taken.some(other => box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom)) continue;
    taken.push(box);
    canvas.strokeStyle = palette.halo;
    canvas.lineWidth = 4;
    canvas.strokeText(name, left + 1, at.y);
    canvas.fillStyle = palette.text;
    canvas.fillText(name, left + 1, at.y);
  }
}

// Regions: a haze around the nodes of each subtopic, and its name in their middle; gives the places of the names.
const HAZE = 34, FEWEST_IN_REGION = 3;
function drawRegions(canvas) {
  const boxes = [], members = new Map();
  for (const node of ranked) {
    const drawn = node.topic !== null && node.topic < NODE_COLOURS.length - 1 && renderer.getNodeDisplayData(String(node.index));
    if (drawn) members.set(node.topic, [...(members.get(node.topic) ?? []), renderer.framedGraphToViewport(drawn)]);
  }
  const middle = (points, axis) => points.map(point => point[axis]).sort((a, b) => a - b)[points.length >> 1];
  for (const [topic, points] of [...members].sort(([a], [b]) => a - b)) {
    if (points.length < FEWEST_IN_REGION) continue;
    canvas.globalAlpha = 0.07;
    canvas.fillStyle = NODE_COLOURS[topic];
    for (const { x, y } of points) { canvas.beginPath(); canvas.arc(x, y, HAZE, 0, 2 * Math.PI); canvas.fill(); }
    canvas.globalAlpha = 1;
    canvas.font = "bold 17px sans-serif";
    const name = content.topics[topic].split(", ")[0], wide = canvas.measureText(name).width;
    const left = middle(points, "x") - wide / 2, box = { left, right: left + wide, top: middle(points, "y") - 12, bottom: middle(points, "y") + 12 };
    while (boxes.some(other => box.left < other.right && other.left < box.right && box.top < other.bottom && other.top < box.bottom)) {
      box.top += 24;
      box.bottom += 24;
    }
    boxes.push(box);
    canvas.strokeStyle = palette.halo;
    canvas.lineWidth = 5;
    canvas.strokeText(name, left, box.top + 12);
    canvas.fillStyle = NODE_COLOURS[topic];
    canvas.fillText(name, left, box.top + 12);
  }
  return boxes;
}

function start() {
  try {
    renderer = new library.Sigma(graph, get("picture"), {
      renderLabels: false, nodeReducer: drawnNode, edgeReducer: drawnEdge, zIndex: true, allowInvalidContainer: true,
      enableEdgeEvents: true, stagePadding: 40, minCameraRatio: 0.01, maxCameraRatio: 4, defaultDrawNodeHover: () => {},
      edgeProgramClasses: { arrow: library.EdgeArrowProgram, line: library.EdgeRectangleProgram, thin: library.EdgeLineProgram },
    });
  } catch (error) {
    get("no-picture").hidden = false;
    get("no-picture").textContent = "This browser cannot draw the picture (WebGL is off): search and details work all the same. " + error;
    return;
  }
  renderer.on("afterRender", drawNames);
  renderer.on("afterRender", watchFrames);
  renderer.on("clickNode", ({ node }) => go("n" + node));
  renderer.on("clickEdge", ({ edge }) => go("e" + edge));
  renderer.on("clickStage", () => go(""));
  renderer.on("enterNode", ({ node }) => hover(nodes[node]));
  renderer.on("leaveNode", () => hover(null));
}

// Among many edges only a click sets neighbours off: the pointer passes over too many nodes.
function hover(node) {
  hovered = node;
  if (drawnEdges <= MANY_EDGES) light(); else renderer.scheduleRender();
}

// Without a graphics card many edges cannot be drawn at every step: they are left out while the picture moves.
let slowFrames = 0;
function watchFrames() {
  if (slowFrames >= 3 || drawnEdges <= MANY_EDGES) return;
  requestAnimationFrame(first => requestAnimationFrame(second => {
    if (second - first > 80 && ++slowFrames === 3) renderer.setSetting("hideEdgesOnMove", true);
  }));
}

function fit() { if (renderer) renderer.getCamera().animatedReset({ duration: 200 }); }
function zoom(factor) {
  if (!renderer) return;
  const camera = renderer.getCamera();
  camera.animate({ ratio: camera.getBoundedRatio(camera.ratio * factor) }, { duration: 150 });
}
function pan(x, y) {
  if (!renderer) return;
  const camera = renderer.getCamera();
  camera.setState({ x: camera.x + 0.1 * x * camera.ratio, y: camera.y + 0.1 * y * camera.ratio });
}
// Moves the picture only where the node would be outside.
function bringIntoView(node) {
  const drawn = renderer && renderer.getNodeDisplayData(String(node.index));
  if (!drawn) return;
  const at = renderer.framedGraphToViewport(drawn), { width, height } = renderer.getDimensions();
  const inside = at.x > 40 && at.x < width - 120 && at.y > 40 && at.y < height - 40;
  if (!inside) renderer.getCamera().animate({ x: drawn.x, y: drawn.y }, { duration: 200 });
}

// ---- Details

const details = get("details");
const otherEnd = (edge, node) => edge.head === node ? edge.tail : edge.head;
const nodeLink = (parent, node) => link(parent, node.name, "n" + node.index);
const paperTitle = paper => paper.title || paper.key;

function link(parent, text, place) {
  add(parent, "a", text, { href: "#" + place }).addEventListener("click", () => details.focus());
}

function edgesOf(paper) {
  return edges.filter(edge => edge.sentences.some(sentence => sentence.paper === paper));
}

function describeGraph() {
  details.replaceChildren();
  add(details, "h2", document.title);
  add(details, "p", "Click a node or an edge, or search. The wheel zooms, dragging moves.");
  add(details, "h3", "In most abstracts");
  const list = add(details, "ul");
  for (const node of nodes.filter(passes).slice(0, 30)) nodeItem(list, node, inYears(node));
}

function nodeItem(list, node, documents = node.documents) {
  const item = add(list, "li");
  dot(item, nodeColour(node));
  nodeLink(item, node);
  item.append(" ");
  add(item, "small", count(documents, "abstract"));
}

function describeNode(node) {
  add(details, "h2", node.name);
  const types = add(details, "p");
  dot(types, nodeColour(node));
  types.append(node.types.map(([type, mentions]) => content.types[type] + " " + mentions.toLocaleString("en")).join(", "));
  const matched = node.documents - node.extracted;
  add(details, "p", count(node.documents, "abstract") + ", " + count(node.mentions, "extracted mention")
    + (matched > 0 ? `; in ${matched.toLocaleString("en")} of them its name was matched in the text` : ""));
  if (node.generic) add(details, "p", "Generic: the name alone tells little.", { class: "quiet" });
  if (node.topic !== null) add(details, "p", "Subtopic: " + content.topics[node.topic], { class: "quiet" });
  drawYears(node.years);
  if (node.aliases.length > 1 || node.aliases.some(([, , rules]) => rules)) {
    const box = fold(details, `Written as (${node.aliases.length})`, inside => {
      const list = add(inside, "ul");
      for (const [surface, mentions, rules] of node.aliases) {
        add(add(list, "li", surface + " "), "small", mentions + (rules ? ": " + rules : ""));
      }
    });
    box.id = "aliases";
  }
  const groups = new Map();
  for (const edge of node.edges) {
    const name = content.relations[edge.relation];
    const title = content.symmetric[edge.relation] ? `— ${name} —` : edge.head === node ? `${name} →` : `← ${name}`;
    groups.set(title, [...(groups.get(title) ?? []), edge]);
  }
  if (!node.edges.length) add(details, "p", "No relations on this page.", { class: "quiet" });
  for (const [title, some] of groups) {
    add(details, "h3", title);
    for (const edge of some) edgeFold(details, edge, node);
  }
  if (node.papers.length) {
    const more = node.documents - node.papers.length;
    const words = `Papers (${node.documents.toLocaleString("en")})`;
    add(details, "h3", words);
    fold(details, "show", inside => {
      const list = add(inside, "ul");
      for (const paper of node.papers) paperLine(add(list, "li"), papers[paper]);
      if (more > 0) add(inside, "p", `and ${more.toLocaleString("en")} more, older or without a year`, { class: "quiet" });
    }).id = "papers";
  }
}

function fold(parent, title, fill) {
  const box = add(parent, "details");
  add(box, "summary", title);
  box.addEventListener("toggle", () => { if (box.open && box.children.length === 1) fill(add(box, "div")); });
  return box;
}

// A neighbour; opened, the sentences of the edge to it.
function edgeFold(parent, edge, node) {
  const box = fold(parent, "", inside => edge.sentences.forEach(sentence => quote(inside, sentence)));
  const summary = box.firstChild, other = otherEnd(edge, node);
  dot(summary, nodeColour(other));
  nodeLink(summary, other);
  summary.append(" ");
  add(summary, "small", count(edge.documents, "abstract"));
}

function describeEdge(edge) {
  const title = add(details, "h2"), arrow = content.symmetric[edge.relation] ? " — " : " → ";
  title.append(content.relations[edge.relation]);
  const ends = add(details, "p");
  nodeLink(add(ends, "mark"), edge.head);
  ends.append(arrow);
  nodeLink(add(ends, "mark", "", { class: "tail" }), edge.tail);
  add(details, "p", count(edge.documents, "abstract") + (edge.score === null ? "" : ", mean score " + edge.score.toFixed(2)));
  drawYears(edge.years);
  edge.sentences.forEach(sentence => quote(details, sentence));
  const more = edge.documents - new Set(edge.sentences.map(sentence => sentence.paper)).size;
  if (more > 0) add(details, "p", `and sentences of ${count(more, "more abstract")}`, { class: "quiet" });
  const others = edge.head.edges.filter(other => other !== edge && otherEnd(other, edge.head) === otherEnd(edge, edge.head));
  if (others.length) add(details, "h3", "Between the same nodes");
  for (const other of others) {
    const line = add(details, "p");
    link(line, `${other.head.name} — ${content.relations[other.relation]} — ${other.tail.name}`, "e" + other.index);
  }
}

function describePaper(paper) {
  add(details, "h2", paperTitle(paper));
  const line = add(details, "p", [paper.venue, paper.year, paper.title ? paper.key : ""].filter(Boolean).join(", "));
  doiLink(line, paper);
  add(details, "h3", "What it states");
  for (const edge of edgesOf(paper)) {
    const line = add(details, "p");
    nodeLink(line, edge.head);
    line.append(` ${content.relations[edge.relation]} `);
    nodeLink(line, edge.tail);
    edge.sentences.filter(sentence => sentence.paper === paper).forEach(sentence => quote(details, sentence, false));
  }
  const named = nodes.filter(node => node.papers.includes(paper.index));
  if (named.length) add(details, "h3", "What it names");
  const list = add(details, "ul");
  for (const node of named) nodeItem(list, node);
}

function quote(parent, sentence, withPaper = true) {
  const block = add(parent, "blockquote"), letters = Array.from(sentence.text);
  const cuts = [...new Set([0, letters.length, ...sentence.head, ...sentence.tail])].sort((a, b) => a - b);
  for (let part = 0; part + 1 < cuts.length; part++) {
    const words = letters.slice(cuts[part], cuts[part + 1]).join("");
    const within = ([start, end]) => start <= cuts[part] && cuts[part] < end;
    if (within(sentence.head)) add(block, "mark", words, { class: "head" });
    else if (within(sentence.tail)) add(block, "mark", words, { class: "tail" });
    else block.append(words);
  }
  if (withPaper) paperLine(add(block, "footer"), sentence.paper);
}

function paperLine(parent, paper) {
  link(parent, paperTitle(paper), "d" + paper.index);
  add(parent, "small", [", " + [paper.venue, paper.year].filter(Boolean).join(" ")].filter(words => words !== ", ").join(""));
  doiLink(parent, paper);
}

function doiLink(parent, paper) {
  if (!/^10\.\d{4,9}\/\S+$/.test(paper.doi)) return;
  parent.append(" ");
  add(parent, "a", "doi:" + paper.doi,
    { href: "https://doi.org/" + encodeURIComponent(paper.doi).replaceAll("%2F", "/"), target: "_blank", rel: "noopener noreferrer" });
}

function drawYears(years) {
  if (years.length < 2) {
    if (years.length) add(details, "p", "Year " + years[0][0], { class: "quiet" });
    return;
  }
  const svg = (parent, tag, attributes) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    return parent.appendChild(element);
  };
  const [first, last] = [years[0][0], years.at(-1)[0]], highest = Math.max(...years.map(([, number]) => number));
  const words = `Abstracts by year, ${first} to ${last}`;
  const picture = svg(details, "svg", { class: "years", viewBox: `0 0 ${last - first + 1} 1`, preserveAspectRatio: "none", role: "img", "aria-label": words });
  for (const [year, number] of years) {
    const bar = svg(picture, "rect", { x: year - first + 0.1, y: 1 - number / highest, width: 0.8, height: number / highest });
    svg(bar, "title", {}).textContent = `${year}: ${number}`;
  }
  add(details, "small", `${first} to ${last}, at most ${highest.toLocaleString("en")} a year`);
}

// ---- From place to place: n12 is a node, e5 an edge, d7 an abstract; the browser's own history goes back.

function go(place) {
  if (location.hash.slice(1) === place) return;
  if (place) location.hash = place;
  else history.pushState(null, "", location.pathname + location.search), show();
}

function show() {
  const words = decoded(location.hash.slice(1)), [, kind, number] = /^([ned])(\d+)$/.exec(words) ?? [];
  Object.assign(chosen, { node: null, edge: null, paper: null });
  if (kind === "n") chosen.node = nodes[number] ?? null;
  else if (kind === "e") chosen.edge = edges[number] ?? null;
  else if (kind === "d") chosen.paper = papers[number] ?? null;
  else if (words) chosen.node = found(words)[0] ?? null;
  details.replaceChildren();
  details.scrollTop = 0;
  update();
  if (chosen.node) { describeNode(chosen.node); bringIntoView(chosen.node); }
  else if (chosen.edge) describeEdge(chosen.edge);
  else if (chosen.paper) describePaper(chosen.paper);
  else describeGraph();
}

function decoded(words) {
  try { return decodeURIComponent(words); } catch { return words; }
}

// ---- Search

const searchable = nodes.map(node => [node.name, ...node.aliases.map(([surface]) => surface)].map(name => name.toLowerCase()));
const hits = get("hits"), search = get("search");

// What the command line finds by a name: normal forms as in normalisation.py, as far as a reader types what they change.
function called(words) {
  const form = words.normalize("NFKC").replace(/[-\u2010-\u2015_/~\s"'`,;:?!(){}[\]]+/g, ""), lower = form.toLowerCase();
  const key = [form, lower, lower.replace(/s$/, ""), form.replace(/s$/, ""), form.toUpperCase()].find(each => Object.hasOwn(content.keys, each));
  return key === undefined ? null : nodes[content.keys[key]];
}

// Nodes by name: the one that the command line finds, the same name, then names that begin with the words, then others that hold them.
function found(words) {
  const typed = words.trim().toLowerCase(), meant = called(words);
  if (!typed) return [];
  const rank = name => name === typed ? 0 : name.startsWith(typed) ? 1 : name.includes(" " + typed) ? 2 : name.includes(typed) ? 3 : 9;
  return nodes.map(node => [node === meant ? -1 : Math.min(...searchable[node.index].map(rank)), node]).filter(([order]) => order < 9)
    .sort(([a, one], [b, other]) => a - b || one.index - other.index).map(([, node]) => node);
}

function listHits() {
  const some = found(search.value);
  hits.replaceChildren();
  for (const [place, node] of some.slice(0, 20).entries()) {
    const item = add(hits, "li", "", { role: "option", id: "hit-" + place, "aria-selected": String(place === 0) });
    dot(item, nodeColour(node));
    item.append(node.name + " ");
    add(item, "small", count(node.documents, "abstract"));
    item.addEventListener("mousedown", event => { event.preventDefault(); take(node); });
    item.node = node;
  }
  if (search.value.trim() && !some.length) add(hits, "li", "no such name on this page", { class: "quiet" });
  if (some.length > 20) add(hits, "li", `and ${(some.length - 20).toLocaleString("en")} more`, { class: "quiet" });
  hits.hidden = !search.value.trim();
  markHit(0);
}

function markHit(step) {
  const items = [...hits.querySelectorAll("[role=option]")];
  const at = items.findIndex(item => item.getAttribute("aria-selected") === "true");
  const next = Math.min(Math.max(at + step, 0), items.length - 1);
  items.forEach((item, place) => item.setAttribute("aria-selected", String(place === next)));
  items[next]?.scrollIntoView({ block: "nearest" });
  search.setAttribute("aria-expanded", String(!hits.hidden));
  if (items[next]) search.setAttribute("aria-activedescendant", items[next].id); else search.removeAttribute("aria-activedescendant");
}

function take(node) {
  closeSearch();
  go("n" + node.index);
  details.focus();
}

function closeSearch() {
  search.value = "";
  listHits();
}

search.addEventListener("input", listHits);
search.addEventListener("blur", () => { hits.hidden = true; });
search.addEventListener("focus", () => { if (search.value) listHits(); });
search.addEventListener("keydown", event => {
  if (event.key === "ArrowDown" || event.key === "ArrowUp") { event.preventDefault(); markHit(event.key === "ArrowDown" ? 1 : -1); }
  else if (event.key === "Enter") { const item = hits.querySelector("[aria-selected=true]"); if (item) take(item.node); }
  else if (event.key === "Escape") { closeSearch(); details.focus(); }
});

// ---- Keys, theme

function step(by) {
  const items = [...details.querySelectorAll("summary, a")].filter(item => item.checkVisibility());
  if (!items.length) return;
  const at = items.indexOf(document.activeElement);
  const next = items[Math.min(Math.max(at + by, 0), items.length - 1)];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

const KEYS = {
  "/": () => { search.focus(); search.select(); },
  "?": () => get("help").showModal(),
  "+": () => zoom(1 / 1.5), "=": () => zoom(1 / 1.5), "-": () => zoom(1.5), "0": fit,
  f: () => get("filters").querySelector("input").focus(),
  p: () => get("picture").focus(),
  t: changeTheme,
  j: () => step(1), k: () => step(-1),
  Backspace: () => history.back(),
  Escape: () => go(""),
};
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || get("help").open) return;
  if (event.target.matches("input:not([type=checkbox])")) {
    if (event.key === "Escape") details.focus();
    return;
  }
  const inPicture = get("picture").contains(event.target), arrow = ARROWS[event.key];
  if (arrow && inPicture) pan(...arrow);
  else if (arrow && arrow[1]) step(-arrow[1]);
  else if (KEYS[event.key]) KEYS[event.key]();
  else return;
  event.preventDefault();
});

const dark = matchMedia("(prefers-color-scheme: dark)");
let theme = null;
function setTheme() {
  document.documentElement.dataset.theme = theme ?? (dark.matches ? "dark" : "light");
  readPalette();
  light();
}
function changeTheme() {
  theme = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  setTheme();
}
dark.addEventListener("change", setTheme);

for (const [id, action] of [["zoom-in", KEYS["+"]], ["zoom-out", KEYS["-"]], ["fit", fit], ["theme", changeTheme], ["keys", KEYS["?"]]]) {
  get(id).addEventListener("click", action);
}
makeFilters();
setTheme();
window.addEventListener("hashchange", show);
window.addEventListener("popstate", show);
if (!location.hash && content.centre !== null) history.replaceState(null, "", "#n" + content.centre);
start();
show();
