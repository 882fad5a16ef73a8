//! Shared styles of plots: colours, fonts, axes.

use super::{FONT, px};
use plotters::coord::Shift;
use plotters::prelude::*;

pub(crate) type Area<'a> = DrawingArea<BitMapBackend<'a>, Shift>;

pub(crate) const INK: RGBColor = RGBColor(31, 41, 55);
pub(crate) const SOFT: RGBColor = RGBColor(107, 114, 128);
pub(crate) const LINE: RGBColor = RGBColor(229, 231, 235);
/// The colour of bounds and targets.
pub(crate) const BOUND: RGBColor = RGBColor(245, 158, 11);

pub(crate) fn soft(size: i32) -> TextStyle<'static> {
    (FONT, px(size)).into_font().color(&SOFT)
}

pub(crate) fn bold(size: i32) -> TextStyle<'static> {
    // `FontDesc::style` would keep the regular outlines.
    FontDesc::new(FontFamily::Name(FONT), f64::from(px(size)), FontStyle::Bold).color(&INK)
}

/// A chart with a title and room for labels.
pub(crate) fn chart<'a, 'b>(area: &'a Area<'b>, title: &str) -> ChartBuilder<'a, 'b, BitMapBackend<'b>> {
    let mut builder = ChartBuilder::on(area);
    builder.caption(title, bold(17)).margin_right(px(14)).x_label_area_size(px(46)).y_label_area_size(px(62));
    builder
}

/// A text of at most `most` characters, without control characters.
pub(crate) fn one_line(text: &str, most: usize) -> String {
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    match text.chars().count() > most {
        true => plain.take(most.saturating_sub(2)).chain(['\u{2026}']).collect(),
        false => plain.collect(),
    }
}

/// A number with at most so many decimal places.
pub(crate) fn decimal(x: f64, places: usize) -> String {
    let text = format!("{x:.places$}");
    let text = if places > 0 { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    if text == "-0" { "0".into() } else { text.replace('-', "\u{2212}") }
}

/// The axes of a chart: their labels, the number of ticks along x, and the formats of numbers.
macro_rules! axes {
    ($chart:expr, $x:expr, $y:expr, $labels:expr, $xf:expr, $yf:expr) => {
        $chart
            .configure_mesh()
            .x_desc($x)
            .y_desc($y)
            .label_style($crate::analyze::plot::style::soft(13))
            .axis_desc_style($crate::analyze::plot::style::soft(14))
            .axis_style($crate::analyze::plot::style::SOFT.stroke_width($crate::analyze::plot::px(1) as u32))
            .bold_line_style(
                $crate::analyze::plot::style::LINE.stroke_width($crate::analyze::plot::px(1) as u32),
            )
            .light_line_style(plotters::style::TRANSPARENT)
            .x_labels($labels)
            .y_labels(8)
            .x_label_formatter($xf)
            .y_label_formatter($yf)
            .draw()?
    };
}
pub(crate) use axes;
