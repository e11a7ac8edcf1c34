// <indexer-search>: a search box for pages of other sites.
//
//   <script type="module" src="https://search.example/embed.js"></script>
//   <indexer-search site="docs.example"></indexer-search>
//
// Attributes, all optional:
//   server           the search server; by default the one that served this script
//   site             only results of this host and its subdomains
//   language         only results in this language, by its tag
//   lang             the language of the labels (en, de, es, fr); inherited from the page
//   placeholder      the text of the empty field
//   label            the name of the field for screen readers
//   limit            the number of results, 1 to 20; by default 8
//   theme            light, dark, or auto (as the visitor prefers); by default as the page
//   no-results-page  do not link to the server's page of all results
//   no-suggestions   do not suggest words while the visitor types
//
// Everything that the server sends is text from strangers' pages. It enters the document
// only through textContent, and links are made only from http and https URLs. The script
// sets no inline styles and no HTML, so it works under a strict content security policy,
// also with Trusted Types.

const origin = new URL(import.meta.url).origin;

const labels = {
  en: { search: "Search", all: "All results", none: "No results", failed: "Search is unavailable at the moment", found: (n) => (n === 1 ? "1 result" : `${n} results`) },
  de: { search: "Suchen", all: "Alle Ergebnisse", none: "Keine Ergebnisse", failed: "Die Suche ist zurzeit nicht verfügbar", found: (n) => (n === 1 ? "1 Ergebnis" : `${n} Ergebnisse`) },
  es: { search: "Buscar", all: "Todos los resultados", none: "Sin resultados", failed: "La búsqueda no está disponible en este momento", found: (n) => (n === 1 ? "1 resultado" : `${n} resultados`) },
  fr: { search: "Rechercher", all: "Tous les résultats", none: "Aucun résultat", failed: "La recherche est indisponible pour le moment", found: (n) => (n === 1 ? "1 résultat" : `${n} résultats`) },
};

const css = `
:host { display: block; position: relative; text-align: start;
  --ink: var(--indexer-ink, light-dark(#1d2125, #e8e6e1));
  --soft: var(--indexer-soft, light-dark(#565d65, #a9b0b7));
  --paper: var(--indexer-paper, light-dark(#ffffff, #1b1f23));
  --line: var(--indexer-line, light-dark(#8a8f94, #79828a));
  --accent: var(--indexer-accent, light-dark(#0b5d66, #6fd0d8));
  --wash: var(--indexer-wash, light-dark(#e4f0f0, #17302f)); }
:host([hidden]), [hidden] { display: none !important; }
:host([theme="light"]) { color-scheme: light; }
:host([theme="dark"]) { color-scheme: dark; }
:host([theme="auto"]) { color-scheme: light dark; }
* { box-sizing: border-box; }
input { width: 100%; min-height: 2.75rem; padding: .5rem .75rem; font: inherit; color: var(--ink);
  background: var(--paper); border: 1px solid var(--line); border-radius: .5rem; }
input::placeholder { color: var(--soft); opacity: 1; }
input:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
.popup { position: absolute; z-index: 1000; inset-inline: 0; top: calc(100% + .25rem); max-height: min(70vh, 34rem);
  overflow-y: auto; overscroll-behavior: contain; color: var(--ink); background: var(--paper);
  border: 1px solid var(--line); border-radius: .5rem; box-shadow: 0 4px 16px rgb(0 0 0 / 20%); }
.popup p { margin: 0; padding: .75rem; color: var(--soft); }
[role="option"] { display: block; padding: .5rem .75rem; color: inherit; text-decoration: none; overflow-wrap: anywhere;
  border-inline-start: 4px solid transparent; }
[role="option"][aria-selected="true"] { background: var(--wash); border-inline-start-color: var(--accent); }
[role="option"] span { display: block; unicode-bidi: isolate; }
.title { color: var(--accent); font-weight: 600; }
.section { font-weight: 600; }
.section::before { content: "› "; content: "› " / ""; color: var(--soft); }
.url { color: var(--soft); font-size: .8125em; }
.words::before { content: "⌕"; content: "⌕" / ""; color: var(--soft); margin-inline-end: .5rem; }
.snippet { font-size: .875em; display: -webkit-box !important; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }
.status { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
@media (forced-colors: active) { [role="option"][aria-selected="true"] { outline: 2px solid Highlight; outline-offset: -2px; } }
`;

// The time between the last key and the search, in milliseconds.
const pause = 150;
const timeout = 20_000;
const longest = 1000; // of a query, in bytes
const suggested = 3; // suggestions above the results

// Characters that would change the direction of the text around them, control characters, and
// combining marks that pile up after the fourth in a row.
const invisible = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]/g;
const control = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;
const piled = /((?:\p{Cf}*[\p{Mn}\p{Me}]){4})[\p{Cf}\p{Mn}\p{Me}]+/gu;

const clean = (s, n) => {
  const text = String(s ?? "").replace(invisible, "").replace(control, " ").replace(piled, "$1").trim();
  const characters = Array.from(text); // half a character would be none
  return characters.length > n ? characters.slice(0, n).join("") + "…" : text;
};

// webURL returns a URL if it is http or https, and otherwise null.
const webURL = (s, base) => {
  try {
    const u = new URL(s, base);
    return u.protocol === "https:" || u.protocol === "http:" ? u : null;
  } catch {
    return null;
  }
};

const element = (name, attributes, ...children) => {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) e.setAttribute(key, value);
  e.append(...children);
  return e;
};

const part = (name, text) => {
  const e = element("span", { class: name, part: name, dir: "auto" });
  e.textContent = text;
  return e;
};

class IndexerSearch extends HTMLElement {
  static observedAttributes = ["placeholder", "label", "lang"];

  #input = element("input", {
    type: "search", part: "input", role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": "list",
    autocomplete: "off", autocapitalize: "none", spellcheck: "false", maxlength: String(longest), enterkeyhint: "search",
  });
  #list = element("div", { id: "list", role: "listbox", part: "list" });
  #message = element("p", { part: "message" });
  #popup = element("div", { class: "popup", part: "popup", hidden: "" }, this.#list, this.#message);
  #status = element("div", { class: "status", role: "status" });
  #active = -1; // index of the chosen option
  #answered = ""; // the query that the list belongs to
  #timer = 0;
  #running = null; // the AbortController of the request under way

  constructor() {
    super();
    const root = this.attachShadow({ mode: "open", delegatesFocus: true });
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    root.adoptedStyleSheets = [sheet];
    root.append(this.#input, this.#popup, this.#status);
    this.#input.addEventListener("input", (e) => e.isComposing || this.#typed());
    this.#input.addEventListener("compositionend", () => this.#typed());
    this.#input.addEventListener("keydown", (e) => this.#key(e));
    this.#input.addEventListener("click", () => this.#options.length > 0 && this.#open());
    // The field keeps the focus while a result is clicked.
    this.#popup.addEventListener("mousedown", (e) => e.preventDefault());
    this.#list.addEventListener("mousemove", (e) => this.#choose(this.#options.indexOf(e.target.closest("[role=option]")), false));
    this.#list.addEventListener("click", (e) => {
      this.#close();
      const words = e.target.closest("[role=option]")?.dataset.words;
      if (words !== undefined) {
        this.#input.value = words;
        this.#stop();
        this.#search(words);
      }
    });
    this.addEventListener("focusout", (e) => this.contains(e.relatedTarget) || this.#close());
  }

  connectedCallback() { this.#name(); }

  disconnectedCallback() {
    this.#stop();
    this.#close();
  }

  attributeChangedCallback() { this.#name(); }

  get #options() { return Array.from(this.#list.children); }

  get #labels() {
    const tag = this.closest("[lang]")?.lang ?? "";
    return labels[tag.toLowerCase().split("-")[0]] ?? labels.en;
  }

  #name() {
    const text = this.#labels;
    this.#input.placeholder = this.getAttribute("placeholder") ?? text.search;
    this.#input.setAttribute("aria-label", this.getAttribute("label") ?? text.search);
    this.#list.setAttribute("aria-label", text.all);
  }

  // The address of a path of the server, for the query and the attributes.
  #address(path, query) {
    const u = webURL(path, webURL(this.getAttribute("server") ?? origin, document.baseURI) ?? origin);
    u.searchParams.set("q", query);
    if (this.getAttribute("site")) u.searchParams.set("site", this.getAttribute("site"));
    if (this.getAttribute("language")) u.searchParams.set("lang", this.getAttribute("language"));
    return u;
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#running?.abort();
    this.#running = null;
  }

  #typed() {
    this.#stop();
    const query = this.#input.value.trim();
    if (query === "") {
      this.#show("", [], [], "");
      this.#close();
      return;
    }
    this.#timer = setTimeout(() => this.#search(query), pause);
  }

  async #search(query) {
    const running = (this.#running = new AbortController());
    const address = this.#address("/api/query", query);
    const limit = Number.parseInt(this.getAttribute("limit") ?? "", 10);
    address.searchParams.set("limit", String(limit >= 1 && limit <= 20 ? limit : 8));
    let hits, message;
    const suggestions = this.#suggestions(query, running.signal);
    try {
      const answer = await ask(address, running.signal);
      const body = await answer.json();
      if (answer.ok) {
        hits = body.hits.map((h) => this.#hit(h)).filter((h) => h !== null);
        message = hits.length === 0 ? this.#labels.none : "";
      } else {
        // 400 says what is wrong with the query; other errors do not concern the visitor.
        message = answer.status === 400 ? clean(body.error, 300) : this.#labels.failed;
      }
    } catch {
      message = this.#labels.failed;
    }
    hits ??= [];
    const titles = new Set(hits.map((h) => h.querySelector(".title").textContent.toLowerCase()));
    const words = (await suggestions).filter((s) => !titles.has(s.toLowerCase()));
    if (running.signal.aborted) return; // something else was typed meanwhile
    this.#running = null;
    this.#show(query, words, hits, message);
    if (this.matches(":focus-within")) this.#open();
  }

  // The suggestions for a text, none if the server has none or does not answer.
  async #suggestions(typed, signal) {
    if (this.hasAttribute("no-suggestions")) return [];
    const address = this.#address("/api/suggest", typed);
    address.searchParams.set("limit", String(suggested));
    try {
      const answer = await ask(address, signal);
      return answer.ok ? (await answer.json())[1].map((s) => clean(s, 200)) : [];
    } catch {
      return [];
    }
  }

  // The option for a hit, or null if it leads to no web page. It leads to the section of the
  // page that answers the query, if there is one.
  #hit(hit) {
    const section = hit.sections?.find((s) => s.answers);
    const url = webURL(section?.url ?? hit.url);
    if (url === null) return null;
    const place = clean(decode(url.host + url.pathname), 200);
    const option = element("a", { role: "option", part: "option", tabindex: "-1", href: url.href }, part("title", clean(hit.title, 200) || place));
    if (section) option.append(part("section", clean(section.title, 200)));
    option.append(part("url", place));
    const snippet = clean(hit.snippet, 400);
    if (snippet !== "") option.append(part("snippet", snippet));
    return option;
  }

  #show(query, words, hits, message) {
    this.#answered = query;
    this.#status.textContent = message || (query === "" ? "" : this.#labels.found(hits.length));
    const options = words.map((text) => element("div", { role: "option", part: "option", "data-words": text }, part("words", text)));
    options.push(...hits);
    if (hits.length > 0 && !this.hasAttribute("no-results-page")) {
      options.push(element("a", { role: "option", part: "option", tabindex: "-1", href: this.#address("/", query).href }, part("all", this.#labels.all)));
    }
    options.forEach((option, i) => {
      option.id = `option-${i}`;
      option.setAttribute("aria-selected", "false");
    });
    this.#list.replaceChildren(...options);
    this.#list.hidden = options.length === 0;
    this.#message.textContent = message;
    this.#message.hidden = message === "" || (hits.length === 0 && words.length > 0 && message === this.#labels.none);
    this.#choose(-1);
  }

  #choose(i, scroll = true) {
    const options = this.#options;
    options[this.#active]?.setAttribute("aria-selected", "false");
    this.#active = i;
    const option = options[i];
    if (option === undefined) {
      this.#input.removeAttribute("aria-activedescendant");
      return;
    }
    option.setAttribute("aria-selected", "true");
    this.#input.setAttribute("aria-activedescendant", option.id);
    if (scroll) option.scrollIntoView({ block: "nearest" });
  }

  #open() {
    this.#popup.hidden = false;
    this.#input.setAttribute("aria-expanded", String(this.#options.length > 0));
  }

  #close() {
    this.#popup.hidden = true;
    this.#input.setAttribute("aria-expanded", "false");
    this.#choose(-1);
  }

  // The keys of the combobox pattern (ARIA Authoring Practices Guide).
  #key(e) {
    if (e.isComposing || e.ctrlKey || e.metaKey) return;
    const n = this.#options.length;
    switch (e.key) {
      case "ArrowDown":
      case "ArrowUp":
        if (n === 0) return;
        if (e.altKey) {
          if (e.key === "ArrowDown") this.#open();
          else this.#close();
        } else {
          this.#open();
          // From the field, down leads to the first option and up to the last.
          const from = this.#active === -1 && e.key === "ArrowUp" ? 0 : this.#active;
          this.#choose((from + (e.key === "ArrowDown" ? 1 : -1) + n) % n);
        }
        break;
      case "Enter":
        this.#enter();
        break;
      case "Escape":
        this.#stop();
        if (!this.#popup.hidden) {
          this.#close();
        } else {
          this.#input.value = "";
          this.#typed();
        }
        break;
      default:
        return;
    }
    e.preventDefault();
  }

  // Enter opens the chosen result. Without one, it opens the page of all results or, if
  // that is not wanted, searches at once.
  #enter() {
    const chosen = this.#options[this.#active];
    const query = this.#input.value.trim();
    if (chosen !== undefined && !this.#popup.hidden) {
      chosen.click();
    } else if (query !== "" && !this.hasAttribute("no-results-page")) {
      location.assign(this.#address("/", query));
    } else if (query !== "" && query !== this.#answered) {
      this.#stop();
      this.#search(query);
    } else if (query !== "") {
      this.#open();
    }
  }
}

// ask sends a request that tells the server nothing about the visitor but the query.
function ask(address, signal) {
  return fetch(address, { credentials: "omit", referrerPolicy: "no-referrer", signal: AbortSignal.any([signal, AbortSignal.timeout(timeout)]) });
}

function decode(path) {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}

customElements.get("indexer-search") ?? customElements.define("indexer-search", IndexerSearch);
