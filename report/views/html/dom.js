/* Elements made from data. Text reaches the page through text nodes and attributes only: nothing that a
   report holds is ever read as markup. */

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";

function fill(node, properties, children) {
    for (const [name, value] of Object.entries(properties)) {
        if (name.startsWith("on")) {
            node.addEventListener(name.slice(2), value);
        } else if (name === "style") {
            Object.entries(value).forEach(([key, setting]) => node.style.setProperty(key, setting));
        } else if (value !== null && value !== undefined && value !== false) {
            node.setAttribute(name, value === true ? "" : value);
        }
    }
    node.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return node;
}

function element(tag, properties = {}, ...children) {
    return fill(document.createElement(tag), properties, children);
}

function drawing(tag, attributes = {}, ...children) {
    return fill(document.createElementNS(SVG_NAMESPACE, tag), attributes, children);
}

function byId(id) {
    return document.getElementById(id);
}

/* Characters that could reorder or hide the text around them, shown as their code points. */
const INVISIBLE =
    /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

function visible(text) {
    return String(text).replace(
        INVISIBLE,
        (character) => "⟨U+" + character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0") + "⟩");
}

/* Names break after these so that a long template argument list wraps at places that read well. */
function nameNode(text, className = "name") {
    const parts = visible(text || "(no name)").split(/(?<=[,<(:])(?=[^:])/);
    return element(
        "span", {class: className, translate: "no"},
        parts.flatMap((part, index) => (index ? [element("wbr"), part] : [part])));
}

function notAvailable(how) {
    return element("span", {class: "na", title: how || "not known"}, "n/a");
}

/* A value that is null is never shown as a number. */
function shown(value, format, how) {
    return value === null || value === undefined ? notAvailable(how) : format(value);
}
