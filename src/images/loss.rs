//! What a picture carries and a file of another kind cannot hold.

use super::{Kind, Meta, Unit, fitting_icc, says_orientation, tags};
use grainfield_filters::frame::Format;

/// What of `meta` is lost in a file of this kind with pictures of this format, in a few words each.
pub fn lost(kind: Kind, meta: &Meta, format: &Format) -> Vec<String> {
    let mut list = Vec::new();
    if meta.cmyk {
        list.push("CMYK (it becomes RGB without a profile)".into());
    }
    let profiled = matches!(kind, Kind::Png | Kind::Tiff | Kind::Jpeg | Kind::Webp);
    if meta.icc.is_some() && !(profiled && fitting_icc(Some(meta), format).is_some()) {
        let why = if profiled { " (it speaks of samples before their conversion)" } else { "" };
        list.push(format!("the colour profile{why}"));
    }
    let exif = matches!(kind, Kind::Png | Kind::Jpeg | Kind::Webp);
    if let Some(data) = meta.exif.as_ref().filter(|_| !exif) {
        let turned = says_orientation(kind, meta);
        match (tags::is_orientation_alone(data), turned) {
            (true, true) => {}
            (false, true) => list.push("Exif but for the orientation".into()),
            (_, false) => list.push("Exif".into()),
        }
    }
    let dense = matches!(kind, Kind::Png | Kind::Tiff | Kind::Jpeg | Kind::Cineon);
    // one sample to one without a length says nothing, and what scanners write into their headers is told with these
    let said = meta.density.filter(|d| d.unit != Unit::None || d.x != d.y);
    if let Some(d) = said.filter(|_| !dense && meta.cineon.is_none()) {
        list.push(format!("the resolution ({} by {})", d.x, d.y));
    }
    if let Some(png) = meta.png.as_ref().filter(|_| kind != Kind::Png) {
        let texts = png.uncompressed_latin1_text.iter().map(|t| &t.keyword);
        let texts = texts.chain(png.compressed_latin1_text.iter().map(|t| &t.keyword));
        let texts: Vec<&str> =
            texts.chain(png.utf8_text.iter().map(|t| &t.keyword)).map(String::as_str).collect();
        if !texts.is_empty() {
            list.push(format!("texts ({})", texts.join(", ")));
        }
        if png.mastering_display_color_volume.is_some() || png.content_light_level.is_some() {
            list.push("HDR10 data".into());
        }
    }
    if let Some(tiff) = &meta.tiff {
        list.extend(tiff.lost(kind == Kind::Tiff));
    }
    match (&meta.dpx, &meta.cineon) {
        (Some(dpx), _) if kind == Kind::Dpx => list.extend(dpx.lost()),
        (_, Some(_)) if kind == Kind::Cineon => {}
        _ => list.extend(meta.fields.iter().cloned()),
    }
    list
}
