//! The row kernels of the picture tube.

use crate::simd::multiversion;

#[inline(always)]
fn beam_body(out: &mut [f32], lines: [&[f32]; 3], place: &[f32], scanlines: f32) {
    let n = out.len();
    let [a, b, c] = lines.map(|l| &l[..n]);
    let place = &place[..n];
    for i in 0..n {
        let mut sum = 0.0;
        for (k, l) in [a[i], b[i], c[i]].into_iter().enumerate() {
            let d = place[i] - (k as f32 - 1.0);
            let near = 1.0 - d.abs();
            let near = if near > 0.0 { near } else { 0.0 };
            let l = if l > 0.0 { l } else { 0.0 };
            let bright = if l < 1.0 { l } else { 1.0 };
            let by = 1.0 / (0.4 + 0.4 * bright.sqrt());
            let x = d * by;
            let rest = 1.0 - x * x;
            let rest = if rest > 0.0 { rest } else { 0.0 };
            let weight = near + (0.9375 * by * rest * rest - near) * scanlines;
            sum += l * weight;
        }
        out[i] = sum;
    }
}

/// Samples at `from + i step` of R, G and B side by side, linear between those of the line.
#[inline(always)]
fn stretch_body([r, g, b]: [&mut [f32]; 3], line: &[[f32; 4]], from: f32, step: f32) {
    let n = r.len();
    let (g, b) = (&mut g[..n], &mut b[..n]);
    let last = line.len() as i32 - 2;
    for i in 0..n {
        let x = from + i as f32 * step;
        let x = if x > 0.0 { x } else { 0.0 };
        let at = (x as i32).min(last);
        let f = x - at as f32;
        let f = if f < 1.0 { f } else { 1.0 };
        let [p, q] = [line[at as usize], line[at as usize + 1]];
        let mixed: [f32; 4] = core::array::from_fn(|k| p[k] + (q[k] - p[k]) * f);
        (r[i], g[i], b[i]) = (mixed[0], mixed[1], mixed[2]);
    }
}

#[inline(always)]
fn masked_body(row: &mut [f32], mask: &[f32], strength: f32, cover: &[f32]) {
    for ((x, m), c) in row.iter_mut().zip(mask).zip(cover) {
        let light = *x * (1.0 + (m - 1.0) * strength) * c;
        // A soft shoulder: mask and beam make peaks that a screen cannot show.
        let over = light - 0.6;
        *x = if over > 0.0 { 0.6 + over / (1.0 + over * 0.9) } else { light };
    }
}

/// The places of a row of the glass in lines, along a line.
#[inline(always)]
fn places_body(place: &mut [f32], v: f32, curve: f32, lines: f32) {
    let step = 2.0 / place.len() as f32;
    for (i, place) in place.iter_mut().enumerate() {
        let u = (i as f32 + 0.5) * step - 1.0;
        *place = (v * (1.0 + curve * u * u) + 1.0) * 0.5 * lines - 0.5;
    }
}

/// What of each sample of a row is on the glass: with rounded corners, and darker towards them.
#[inline(always)]
fn corners_body(cover: &mut [f32], [v, wide, curve, radius, sharp]: [f32; 5]) {
    let (step, inner, by) = (2.0 / cover.len() as f32, 1.0 - radius, 1.0 / radius);
    let positive = |v: f32| if v > 0.0 { v } else { 0.0 };
    for (i, cover) in cover.iter_mut().enumerate() {
        let u = (i as f32 + 0.5) * step - 1.0;
        let (x, y) = ((u * wide).abs(), (v * (1.0 + curve * u * u)).abs());
        let (a, b) = (positive((x - inner) * by), positive((y - inner) * by));
        let inside = positive((1.0 - (a * a + b * b)) * sharp);
        let inside = if inside < 1.0 { inside } else { 1.0 };
        *cover = inside * (1.0 - 0.9 * curve * (x * x + y * y));
    }
}

/// Three lines, one after the other, side by side.
#[inline(always)]
fn interleave_body(quads: &mut [[f32; 4]], lines: &[f32]) {
    let n = quads.len();
    let (r, g, b) = (&lines[..n], &lines[n..][..n], &lines[2 * n..][..n]);
    for i in 0..n {
        quads[i] = [r[i], g[i], b[i], 0.0];
    }
}

multiversion! {
    /// Places of a row of the glass, in lines.
    pub(super) fn places(level, place: &mut [f32], v: f32, curve: f32, lines: f32) = places_body;
    /// What of a row is on the glass.
    pub(super) fn corners(level, cover: &mut [f32], shape: [f32; 5]) = corners_body;
    /// Three lines side by side.
    pub(super) fn interleave(level, quads: &mut [[f32; 4]], lines: &[f32]) = interleave_body;
    /// Lines of light as a beam draws them.
    pub(super) fn beam(level, out: &mut [f32], lines: [&[f32]; 3], place: &[f32], scanlines: f32) = beam_body;
    /// A line of the glass as samples of a row.
    pub(super) fn stretch(level, out: [&mut [f32]; 3], line: &[[f32; 4]], from: f32, step: f32) = stretch_body;
    /// Light behind a mask, with a soft shoulder.
    pub(super) fn masked(level, row: &mut [f32], mask: &[f32], strength: f32, cover: &[f32]) = masked_body;
}
