//! The files of the page, compiled in.

use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};

macro_rules! table {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_bytes!(concat!("app/", $name)))),*]
    };
}

/// Every file, by its name below `/app/`. No other files are served.
const FILES: &[(&str, &[u8])] = table![
    "index.html",
    "style.css",
    "icon.svg",
    "main.js",
    "api.js",
    "state.js",
    "cutting.js",
    "deliveries.js",
    "viewer.js",
    "player.js",
    "mask.js",
    "moving.js",
    "compare.js",
    "kept.js",
    "start.js",
    "thumbs.js",
    "gallery.js",
    "timecode.js",
    "scenes.js",
    "deinterlace.js",
    "interpret.js",
    "matte.js",
    "timeline.js",
    "filters.js",
    "controls.js",
    "curve.js",
    "effect.js",
    "panels.js",
    "dialogs.js",
    "files.js",
    "render.js",
    "search.js",
    "keys.js",
    "vendor/lit-html.js",
    "vendor/signals-core.js",
    "vendor/LICENSE-lit-html",
    "vendor/LICENSE-signals-core",
];

/// `/`.
pub(super) async fn page() -> Response {
    named("index.html")
}

/// `/app/...`.
pub(super) async fn file(Path(name): Path<String>) -> Response {
    named(&name)
}

fn named(name: &str) -> Response {
    let Some((name, bytes)) = FILES.iter().find(|f| f.0 == name) else {
        return (StatusCode::NOT_FOUND, "there is no such file").into_response();
    };
    let kind = match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    };
    ([(header::CONTENT_TYPE, kind)], *bytes).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_that_are_imported_are_served() {
        for (name, bytes) in FILES.iter().filter(|(name, _)| name.ends_with(".js") && !name.contains('/')) {
            let text = std::str::from_utf8(bytes).unwrap();
            for module in text.split("from './").skip(1).filter_map(|rest| rest.split('\'').next()) {
                assert!(FILES.iter().any(|f| f.0 == module), "{name} imports {module}");
            }
        }
    }
}
