// Runs before the scripts of each document. It takes away chance, real time, and ways out of the page.
(() => {
  "use strict";
  const define = (object, name, value) => Object.defineProperty(object, name, {value, writable: true, configurable: true});

  // Mulberry32, a small generator of 32-bit numbers.
  let state = 0x9E3779B9;
  const next = () => {
    state = (state + 0x6D2B79F5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return (t ^ (t >>> 14)) >>> 0;
  };
  define(Math, "random", () => next() / 4294967296);
  if (window.Crypto) {
    define(Crypto.prototype, "getRandomValues", array => {
      const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
      for (let i = 0; i < bytes.length; i++) bytes[i] = next();
      return array;
    });
    define(Crypto.prototype, "randomUUID", () => {
      const hex = n => Array.from({length: n}, () => (next() & 15).toString(16)).join("");
      return `${hex(8)}-${hex(4)}-4${hex(3)}-8${hex(3)}-${hex(12)}`;
    });
  }

  // Frames of the screen come in real time; timers do not.
  define(window, "requestAnimationFrame", callback => setTimeout(() => callback(performance.now()), 16));
  define(window, "cancelAnimationFrame", id => clearTimeout(id));
  define(window, "requestIdleCallback", callback => setTimeout(() => callback({didTimeout: false, timeRemaining: () => 10}), 1));
  define(window, "cancelIdleCallback", id => clearTimeout(id));
  define(window, "IntersectionObserver", class IntersectionObserver {
    constructor(callback) { this.callback = callback; this.targets = new Set(); }
    get root() { return null; }
    get rootMargin() { return "0px"; }
    get thresholds() { return [0]; }
    observe(target) {
      if (this.targets.has(target)) return;
      this.targets.add(target);
      setTimeout(() => {
        if (!this.targets.has(target)) return;
        const box = target.getBoundingClientRect();
        this.callback([{target, isIntersecting: true, isVisible: true, intersectionRatio: 1, time: performance.now(),
          boundingClientRect: box, intersectionRect: box, rootBounds: null}], this);
      }, 1);
    }
    unobserve(target) { this.targets.delete(target); }
    disconnect() { this.targets.clear(); }
    takeRecords() { return []; }
  });
  define(window, "ResizeObserver", class ResizeObserver {
    constructor(callback) { this.callback = callback; this.targets = new Set(); }
    observe(target) {
      if (this.targets.has(target)) return;
      this.targets.add(target);
      setTimeout(() => {
        if (!this.targets.has(target)) return;
        const box = target.getBoundingClientRect();
        const size = [{inlineSize: box.width, blockSize: box.height}];
        this.callback([{target, contentRect: box, contentBoxSize: size, borderBoxSize: size, devicePixelContentBoxSize: size}], this);
      }, 1);
    }
    unobserve(target) { this.targets.delete(target); }
    disconnect() { this.targets.clear(); }
  });

  // The browser leaves a page without a request for an empty document, one that a script has made,
  // and the one that the tab had before the page, which is none of the entries.
  const {navigation} = window;
  if (navigation) {
    const go = History.prototype.go;
    define(History.prototype, "go", function(by = 0) {
      const entry = navigation.currentEntry;
      if (entry && navigation.entries()[entry.index + Math.trunc(by)]) go.call(this, by);
    });
    define(History.prototype, "back", function() { this.go(-1); });
    define(History.prototype, "forward", function() { this.go(1); });
    if (window === window.top) {
      navigation.addEventListener("navigate", event => {
        if (!event.destination.sameDocument && !/^https?:/.test(event.destination.url)) event.preventDefault();
      });
    }
  }

  // Machines differ.
  define(Navigator.prototype, "hardwareConcurrency", 4);
  define(Navigator.prototype, "deviceMemory", 8);

  // What runs beside the page, leaves it, or measures the machine is absent, as in a browser that
  // lacks it. So is what answers in real time, because the page may have ended by then.
  for (const name of ["Worker", "SharedWorker", "WebTransport", "RTCPeerConnection", "webkitRTCPeerConnection", "RTCDataChannel", "Notification",
    "indexedDB", "caches", "cookieStore", "AudioContext", "webkitAudioContext", "OfflineAudioContext", "webkitOfflineAudioContext"]) {
    delete window[name];
  }
  define(window, "WebSocket", class WebSocket extends EventTarget {
    constructor(url) {
      super();
      this.url = String(url);
      this.readyState = 3;
      setTimeout(() => {
        for (const event of [new Event("error"), new CloseEvent("close", {code: 1006})]) {
          this.dispatchEvent(event);
          if (typeof this["on" + event.type] === "function") this["on" + event.type](event);
        }
      }, 1);
    }
    send() {}
    close() {}
  });
  Object.assign(window.WebSocket, {CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3});
  for (const name of ["serviceWorker", "geolocation", "mediaDevices", "usb", "bluetooth", "serial", "hid", "connection", "getBattery",
    "storage", "locks", "credentials"]) {
    delete Navigator.prototype[name];
  }
  if (window.Permissions) define(Permissions.prototype, "query", async ({name}) => Object.assign(new EventTarget(), {name, state: "denied", onchange: null}));
  define(Navigator.prototype, "sendBeacon", () => true);
  define(window, "open", () => null);
  define(window, "print", () => {});
  for (const [name, answer] of [["alert", undefined], ["confirm", false], ["prompt", null]]) {
    define(window, name, () => answer);
  }
})();
