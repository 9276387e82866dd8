"use strict";

// The content: lists in the order of the fields in page.py.
const content = JSON.parse(document.getElementById("content").textContent);
const papers = content.papers.map(([key, year, title, venue, doi], index) => ({ index, key, year, title, venue, doi }));
const nodes = content.nodes.map(([name, type, topic, alone, documents, extracted, mentions, generic, types, years, aliases, papers], index) =>
  ({ index, name, type, topic, alone, documents, extracted, mentions, generic, types, years, aliases, papers, edges: [], tied: false, x: null, y: null }));
// What abstracts name together: it pulls nodes together in the picture, and is not drawn.
const ties = content.ties.map(([one, two, times]) => ({ one: nodes[one], two: nodes[two], times }));
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
const naming = papers.map(() => []);   // the nodes that each abstract names
for (const node of nodes) for (const paper of node.papers) naming[paper].push(node);

// What the abstracts of a node name as well, with how many times: what is named seldom elsewhere first.
function companions(node) {
  if (node.companions) return node.companions;
  const times = new Map();
  for (const paper of node.papers) for (const other of naming[paper]) if (other !== node && !other.generic) times.set(other, (times.get(other) ?? 0) + 1);
  const close = ([other, number]) => number / Math.sqrt(other.documents);
  const all = [...times].sort((one, other) => close(other) - close(one) || one[0].index - other[0].index);
  return node.companions = all.slice(0, FEW_NEIGHBOURS);
}

const NODE_COLOURS = ["#56b4e9", "#e69f00", "#009e73", "#cc79a7", "#d55e00", "#0072b2", "#c9bb1c", "#999999"];
const FEW_NODES = 150;        // so many nodes and edges are shown at first
const FEW_EDGES = 250;
const FEW_NEIGHBOURS = 12;    // a chosen node with fewer shows what its abstracts name as well
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

// Abstracts in the years that are chosen, of a node those that name it by itself; without a choice those of unknown years count as well.
function inYears(item) {
  if (filters.from === null && filters.until === null) return item.alone ?? item.documents;
  const from = filters.from ?? -Infinity, until = filters.until ?? Infinity;
  return item.years.reduce((sum, [year, documents, alone]) => sum + (from <= year && year <= until ? alone ?? documents : 0), 0);
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
  if (content.centre === null) for (const node of passing) shownNodes.add(node);
  for (const edge of edges) if (passing.has(edge.head) && passing.has(edge.tail) && fits(edge, filters.leastEdge)) show(edge);
  for (const node of chosenNodes()) {
    shownNodes.add(node);
    node.edges.filter(edge => fits(edge, 1)).slice(0, MOST_NEIGHBOURS).forEach(show);
    for (const other of namedWith(node)) shownNodes.add(other);
  }
  return { shownNodes, shownEdges };
}

function namedWith(node) {
  const related = new Set(node.edges.map(edge => otherEnd(edge, node)));
  return companions(node).map(([other]) => other).filter(other => !related.has(other)).slice(0, Math.max(FEW_NEIGHBOURS - related.size, 0));
}

function chosenNodes() {
  return chosen.node ? [chosen.node] : chosen.edge ? [chosen.edge.head, chosen.edge.tail] : [];
}

// The smallest counts that leave few nodes and edges, so that the first picture can be read.
function setFirstFilters() {
  const specific = nodes.filter(node => !node.generic);
  if (content.centre === null && specific.length > FEW_NODES) {
    filters.leastNode = specific[FEW_NODES].alone + 1;
    const more = specific.filter(node => node.alone >= specific[FEW_NODES].alone).length;
    // Of a few abstracts most names are in one: rather many nodes than next to none.
    if (specific.filter(passes).length < FEW_NODES / 3 && more < 3 * FEW_NODES) filters.leastNode -= 1;
  }
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
  const others = add(get("topics"), "p");
  dot(others, NODE_COLOURS.at(-1));
  others.append("all others");
  get("by-topic").checked = byTopic;
  get("by-topic").addEventListener("change", () => { byTopic = get("by-topic").checked; document.body.classList.toggle("by-topic", byTopic); show(); });
  document.body.classList.toggle("by-topic", byTopic);
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
  growth.addEventListener("input", () => {
    get("until").value = growth.value === growth.max ? "" : growth.value;   // at its end abstracts without a year count, too
    setYear("until", get("until").value);
    filtersChanged(false);
  });
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
let graph = new library.MultiDirectedGraph(), renderer = null, layout = null, hovered = null, lit = null, palette = {}, drawnEdges = 0;
const chosen = { node: null, edge: null, paper: null };

function dot(parent, colour) {
  add(parent, "span", "", { class: "dot" }).style.background = colour;
}

function readPalette() {
  const style = getComputedStyle(document.documentElement);
  for (const name of ["text", "edge", "faded", "strong", "halo", "back"]) palette[name] = style.getPropertyValue("--" + name).trim();
}

// Brings the picture in line with filters and choice, and lays out what has come in. The graph is made anew, because
// sigma looks at all that is left after each node or edge that goes.
function update() {
  const { shownNodes, shownEdges } = wanted(), running = layout !== null;
  stopLayout();
  const fresh = new Set([...shownNodes].filter(node => running || node.x === null));
  graph = new library.MultiDirectedGraph();
  for (const node of shownNodes) {
    place(node);
    graph.addNode(node.index, { node, x: node.x, y: node.y, size: radius(node) });
  }
  const join = (one, other, attributes) => graph.addDirectedEdge(one.index, other.index, attributes);
  for (const { one, two, times } of ties) {
    const weight = (one.topic === two.topic ? 3 : 0.5) * (1 + Math.log2(times));
    if (shownNodes.has(one) && shownNodes.has(two)) join(one, two, { edge: null, size: 0, weight, type: "thin" });
  }
  // A node that no tie pulls lies near what its abstracts name.
  if (fresh.size) for (const node of shownNodes) if (!node.tied) {
    const near = companions(node).filter(([other]) => shownNodes.has(other)).slice(0, 2);
    for (const [other] of near) join(node, other, { edge: null, size: 0, weight: 1, type: "thin" });
  }
  drawnEdges = shownEdges.size;
  for (const edge of shownEdges) {
    const width = Math.min(0.9 + 0.8 * Math.log2(edge.documents), 5);
    graph.addDirectedEdgeWithKey(edge.index, edge.head.index, edge.tail.index,
      { edge, size: width, weight: ties.length ? 0.3 : width, type: content.symmetric[edge.relation] ? "line" : "arrow" });
  }
  for (const node of chosenNodes()) for (const other of namedWith(node)) {
    join(node, other, { edge: null, named: true, size: 1, weight: 1, type: "line" });
  }
  if (renderer) renderer.setGraph(graph);
  get("status").textContent = `${graph.order.toLocaleString("en")} of ${count(nodes.length, "node")}`
    + (content.centre === null && nodes.length < content.all_nodes ? ` (of ${content.all_nodes.toLocaleString("en")}), ` : ", ")
    + `${drawnEdges.toLocaleString("en")} of ${count(edges.length, "edge")}`
    + (content.centre === null && edges.length < content.all_edges ? ` (the best supported of ${content.all_edges.toLocaleString("en")})` : "");
  ranked = null;
  if (renderer) renderer.setSetting("enableEdgeEvents", drawnEdges <= MANY_EDGES);
  if (fresh.size) arrange(fresh);
  light();
}

// By the abstracts in which the model found it, as far as they lie in the chosen years.
function radius(node) {
  const share = node.alone ? inYears(node) / node.alone : 1;
  return 3 + 15 * Math.sqrt(node.extracted * share / mostExtracted);
}

// A new node starts near its neighbours in the picture, else on a spiral; always at the same place.
function place(node) {
  if (node.x !== null) return;
  const near = [...node.edges.map(edge => edge.head === node ? edge.tail : edge.head), ...namedWith(node)].filter(other => other.x !== null);
  const angle = node.index * 2.39996, far = near.length ? 3 : 10 * Math.sqrt(node.index + 1);
  const mean = axis => near.reduce((sum, other) => sum + other[axis], 0) / (near.length || 1);
  node.x = mean("x") + far * Math.cos(angle);
  node.y = mean("y") + far * Math.sin(angle);
}

// Lays out nodes that have no place yet; a few of them move nothing else.
function arrange(fresh) {
  stopLayout();
  if (graph.order < 2) return;
  const few = fresh.size < graph.order / 3;
  graph.updateEachNodeAttributes((_, attributes) => ({ ...attributes, fixed: few && !fresh.has(attributes.node) }));
  // Hubs push each other apart, so that clusters show.
  const settings = { ...library.forceAtlas2.inferSettings(graph), outboundAttractionDistribution: true };
  if (graph.order <= SMALL_LAYOUT) {
    library.forceAtlas2.assign(graph, { iterations: Math.min(250, 40000 / graph.order), settings });
    if (!few) fillPicture();
    keepApart();
    keepPlaces();
    return;
  }
  layout = new library.LayoutWorker(graph, { settings });
  layout.start();
  layout.end = setTimeout(stopLayout, 1000 * BACKGROUND_SECONDS);
}

function pictureSize() {
  return renderer ? renderer.getDimensions() : { width: 700, height: 700 };
}

// Small pictures have small circles.
function shrink() {
  const { width, height } = pictureSize();
  return Math.min(Math.max(Math.min(width, height) / 600, 0.5), 1);
}

// Among many nodes the rare ones are dots, and lie below the others.
function drawnSize(size) {
  return (graph.order > SMALL_LAYOUT ? size - 1.5 : size) * shrink();
}

function extent(axis) {
  const places = graph.mapNodes((_, attributes) => attributes[axis]).sort((a, b) => a - b);
  return { middle: places[places.length >> 1], range: places.at(-1) - places[0] || 1 };
}

// Brings stragglers near, and makes the layout as wide for its height as the picture.
function fillPicture() {
  const { width, height } = pictureSize(), middle = { x: extent("x").middle, y: extent("y").middle };
  const away = ({ x, y }) => Math.hypot(x - middle.x, y - middle.y);
  const far = graph.mapNodes((_, at) => away(at)).sort((a, b) => a - b), most = 1.1 * far[Math.floor(0.9 * far.length)];
  graph.updateEachNodeAttributes((_, at) => {
    const nearer = away(at) > most ? (most + 0.2 * (away(at) - most)) / away(at) : 1;
    return { ...at, x: middle.x + nearer * (at.x - middle.x), y: middle.y + nearer * (at.y - middle.y) };
  });
  const wider = Math.min(Math.max(width / height * extent("y").range / extent("x").range, 0.5), 2);
  graph.updateEachNodeAttributes((_, at) => ({ ...at, x: wider * at.x }));
}

// Moves nodes that lie over each other; their sizes are pixels.
function keepApart() {
  const { width, height } = pictureSize(), pixel = Math.max(extent("x").range / width, extent("y").range / height);
  library.noverlap.assign(graph, { maxIterations: 100, settings: { margin: 6 * pixel, gridSize: 10 },
    inputReducer: (_, { x, y, size }) => ({ x, y, size: drawnSize(size) * pixel }) });
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
  if (lit && node) for (const other of [node, ...(node === chosen.node ? namedWith(node) : [])]) lit.nodes.add(other);
  if (renderer) renderer.refresh({ skipIndexation: true });
}

function drawnNode(_, { node, x, y, size }) {
  const faded = lit && !lit.nodes.has(node);
  const colour = faded ? palette.faded : nodeColour(node);
  return { x, y, size: drawnSize(size), color: colour, zIndex: faded ? 0 : 1 + node.extracted };
}

function drawnEdge(_, { edge, named, size, type }) {
  if (named) return { size, type, color: palette.edge };
  if (!edge) return { hidden: true };
  const on = lit && lit.edges.has(edge);
  const thin = drawnEdges > MANY_EDGES && !on;
  return { size, type: thin ? "thin" : type, color: on ? palette.strong : lit ? palette.faded : palette.edge, zIndex: on ? 1 : 0 };
}

const overlap = (one, other) => one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
function write(canvas, text, left, middle, colour) {
  canvas.strokeStyle = palette.halo;
  canvas.lineWidth = 4;
  canvas.strokeText(text, left, middle);
  canvas.fillStyle = colour;
  canvas.fillText(text, left, middle);
}

// Names: those of the most frequent nodes first and largest, none over another, as large at every zoom.
let ranked = null;
function drawNames() {
  const canvas = renderer.getCanvases().labels.getContext("2d");
  const { width, height } = renderer.getDimensions();
  ranked ??= graph.mapNodes((_, { node }) => node).sort((a, b) => a.generic - b.generic || b.alone - a.alone || a.index - b.index);
  const important = lit ? [...lit.nodes].filter(node => graph.hasNode(node.index)) : [];
  const first = [hovered, ...chosenNodes()].filter(node => node && graph.hasNode(node.index));
  canvas.textBaseline = "middle";
  canvas.lineJoin = "round";
  const regions = byTopic && !lit ? drawRegions(canvas) : [], taken = [...regions], names = new Set(regions.map(region => region.name));
  const seen = new Set();
  for (const node of [...first, ...important, ...(lit ? [] : ranked)]) {
    if (taken.length >= MOST_NAMES) break;
    if (seen.has(node) || names.has(node.name)) continue;
    seen.add(node);
    const drawn = renderer.getNodeDisplayData(String(node.index));
    if (!drawn) continue;
    const at = renderer.framedGraphToViewport(drawn), radius = renderer.scaleSize(drawn.size);
    if (at.x < -200 || at.x > width + 20 || at.y < 0 || at.y > height) continue;
    const bold = first.includes(node), letters = Math.round(shrink() * 2 + 10 + 6 * Math.sqrt(node.extracted / mostExtracted));
    canvas.font = (bold ? "bold " : "") + letters + "px sans-serif";
    const name = node.name.length > 40 && !bold ? node.name.slice(0, 39) + "…" : node.name;
    const wide = canvas.measureText(name).width + 4, high = letters / 2 + 2;
    const box = (left, middle) => ({ left, right: left + wide, top: middle - high, bottom: middle + high });
    const right = box(at.x + radius + 2, at.y), left = box(at.x - radius - 2 - wide, at.y);
    const below = box(at.x - wide / 2, at.y + radius + high), above = box(at.x - wide / 2, at.y - radius - high);
    const places = (right.right > width ? [left, below, above] : [right, left, below, above]).filter(place => place.left > 0 && place.right < width);
    const place = places.find(some => !taken.some(other => overlap(some, other))) ?? (bold ? right : null);
    if (!place) continue;
    taken.push(place);
    write(canvas, name, place.left + 2, place.top + high, palette.text);
  }
}

// Regions: a haze around the nodes of each subtopic, and its name where most of them are; gives the places of the names.
const HAZE = 70, FEWEST_IN_REGION = 3;
function drawRegions(canvas) {
  const { width, height } = renderer.getDimensions(), boxes = [], members = new Map();
  const behind = renderer.getCanvases().edgeLabels.getContext("2d");   // it lies below the nodes
  for (const node of ranked) {
    const drawn = node.topic !== null && node.topic < NODE_COLOURS.length - 1 && renderer.getNodeDisplayData(String(node.index));
    if (drawn) members.set(node.topic, [...(members.get(node.topic) ?? []), renderer.framedGraphToViewport(drawn)]);
  }
  const crowd = points => points.map(({ x, y }) => points.filter(other => Math.hypot(other.x - x, other.y - y) < 1.5 * HAZE))
    .reduce((most, some) => some.length > most.length ? some : most);
  const middle = (points, axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length;
  const regions = [...members].filter(([, points]) => points.length >= FEWEST_IN_REGION).sort(([a], [b]) => a - b);
  for (const [topic, points] of regions) {
    const haze = hazeOf(NODE_COLOURS[topic]), size = 2 * HAZE * shrink();
    for (const { x, y } of points) behind.drawImage(haze, x - size / 2, y - size / 2, size, size);
  }
  const letters = Math.round(5 + 12 * shrink()), high = letters / 2 + 3;
  canvas.font = `bold ${letters}px sans-serif`;
  for (const [topic, points] of regions) {
    const name = content.topics[topic].split(", ")[0], wide = canvas.measureText(name).width;
    const most = crowd(points), x = middle(most, "x"), y = middle(most, "y");
    const left = Math.max(Math.min(x - wide / 2, width - wide - 4), 4), box = { name, left, right: left + wide, top: y - high, bottom: y + high };
    while (boxes.some(other => overlap(box, other))) { box.top += 2 * high; box.bottom += 2 * high; }
    if (box.bottom > height || box.top < 0) continue;
    boxes.push(box);
    write(canvas, name, left, box.top + high, NODE_COLOURS[topic]);
    // Light colours alone cannot be read.
    canvas.globalAlpha = 0.45;
    canvas.fillStyle = palette.text;
    canvas.fillText(name, left, box.top + high);
    canvas.globalAlpha = 1;
  }
  return boxes;
}

const hazes = new Map();
function hazeOf(colour) {
  if (hazes.has(colour)) return hazes.get(colour);
  const image = document.createElement("canvas"), side = image.width = image.height = 2 * HAZE, canvas = image.getContext("2d");
  const shade = canvas.createRadialGradient(HAZE, HAZE, 0, HAZE, HAZE, HAZE);
  shade.addColorStop(0, colour + "26");
  shade.addColorStop(1, colour + "00");
  canvas.fillStyle = shade;
  canvas.fillRect(0, 0, side, side);
  hazes.set(colour, image);
  return image;
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
  renderer.on("clickEdge", ({ event }) => clickNear(event));
  renderer.on("clickStage", ({ event }) => clickNear(event));
  renderer.on("enterNode", ({ node }) => hover(nodes[node]));
  renderer.on("leaveNode", () => hover(null));
}

// Lines are thin: a click beside one means it.
function clickNear({ x, y }) {
  for (const far of drawnEdges <= MANY_EDGES ? [0, 2, 4] : []) for (const [right, down] of [[far, 0], [-far, 0], [0, far], [0, -far]]) {
    const key = renderer.getEdgeAtPoint(x + right, y + down), edge = key && graph.getEdgeAttribute(key, "edge");
    if (edge) return go("e" + edge.index);
  }
  go("");
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

function nodeItem(list, node, documents = node.documents, words = "") {
  const item = add(list, "li");
  dot(item, nodeColour(node));
  nodeLink(item, node);
  item.append(" ");
  add(item, "small", words + count(documents, "abstract"));
}

function describeNode(node) {
  add(details, "h2", node.name);
  const types = add(details, "p");
  dot(types, nodeColour(node));
  types.append(node.types.map(([type, mentions]) => content.types[type] + " " + mentions.toLocaleString("en")).join(", "));
  const matched = node.documents - node.extracted;
  add(details, "p", count(node.documents, "abstract") + (node.alone < node.documents ? ` (${node.alone.toLocaleString("en")} name it by itself)` : "") + ", " + count(node.mentions, "extracted mention")
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
  const near = companions(node);
  if (near.length) add(details, "h3", "Named in the same abstracts");
  const list = add(details, "ul");
  for (const [other, number] of near) {
    // Of frequent nodes the page has the newest papers only.
    const some = [node, other].some(({ papers, documents }) => papers.length < documents);
    nodeItem(list, other, number, some ? "at least " : "");
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
  f: () => { document.body.classList.add("filtering"); get("filters").querySelector("input").focus(); },
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

for (const [id, action] of [["zoom-in", KEYS["+"]], ["zoom-out", KEYS["-"]], ["fit", fit], ["theme", changeTheme], ["keys", KEYS["?"]],
  ["filters-or-details", () => document.body.classList.toggle("filtering")]]) {
  get(id).addEventListener("click", action);
}
makeFilters();
setTheme();
window.addEventListener("hashchange", show);
window.addEventListener("popstate", show);
if (!location.hash && content.centre !== null) history.replaceState(null, "", "#n" + content.centre);
start();
show();
