//! Film grain: white noise made coarse by a small kernel, scaled by a function of brightness, and added.
//!
//! # The field
//!
//! Grain starts as white, nearly normal numbers g ([`crate::noise::distribution::h8`]). A separable kernel `[b a 1 a
//! b]`, once along rows and once along columns, makes them as coarse as the grain of a film. In integers ([`Taps`]):
//!
//! ```text
//! h = (g >> 1) + mulhi((g[x-1] >> 1) + (g[x+1] >> 1), A)      mulhi(v, A) = floor(v * A / 65536)
//! n = sat(h + mulhi(sat(h[y-1] + h[y+1]), A))                 A = round(65536 a)
//! ```
//!
//! and with five taps both sums go on, saturating, with `mulhi` of the pair two samples away and B. At its edges the
//! field is mirrored without repeating the edge. Coarser grain goes through more passes before these ([`Pass`]), over
//! neighbours 1, 2, 4, 8 ... samples away. All run on the full raster, so every sample has the same statistics, and the
//! weights follow the size without a step, so grain grows where the size moves. The power spectrum across is that of
//! white noise times the square of
//!
//! `(1 + 2a cos w + 2b cos 2w) (1 + 2c cos 2w) (1 + 2d cos 4w) ...`, and so down.
//!
//! # The response
//!
//! How strong grain is depends on the brightness at its place. [`Ramp`] turns a code into u, 0 (black) to 65535
//! (white), and a [`Response`] u into the gain S, 0 to 16383: along straight lines between sixteenths (in the first and
//! the last sixteenth between 256ths), or by a table of 4096 where lines would be too coarse. In code values the grain
//! is
//!
//! `(mulhi(n, S) + 2^(k-1)) >> k`, which is exactly n * S / 2^(16+k) rounded, halves up,
//!
//! with one k for each plane (`k = 1` is the classic form), so that S always has all its bits. Noise of more
//! than an eighth of n goes through 32 bits by the same formula. The sum is kept to the legal codes, where the sample
//! itself was legal. Chroma takes the brightness of the mean of its block of luma ([`mean_row`]).

mod add;
mod arch;
mod coarse_arch;
mod kernel;
mod mean;
mod response;
mod skew;
#[cfg(test)]
mod tests;

pub use add::{RowKernel, add_f32, add_linear_f32, light_of_linear, reference};
pub use coarse_arch::{MAX_PASSES, Pass, pass_across, pass_both};
pub use kernel::{Fields, MARGIN, Sources, TURN, Taps, across_halves, down, halves_end, mulhi};
pub use mean::{Luma, mean_row};
pub use response::{Codes, Gain, NODES, Nodes, Ramp, Response, limited_near_end, rounded_sd};
pub use skew::Skew;
