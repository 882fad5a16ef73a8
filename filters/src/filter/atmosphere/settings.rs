//! The settings and presets.

use crate::settings::{Animated, Unit};
use crate::{choices, settings};

settings! {
    pub(super) struct AtmosphereSpec {
        /// Where the air is.
        shape as "kind": Shape = choice("everywhere").group("Shape"),
        /// Optical depth where the air is dense: 0.2 is a haze, 1 hides two thirds of the picture, 5 nearly all. Of flames,
        /// that of their soot: with 0 they only add light.
        amount: Animated = number(0.0..=20.0).default(1.5).soft(0.0..=5.0),
        /// How much of the shape is filled: 0 leaves a few shreds, 1 no gaps.
        coverage: Animated = number(0.0..=1.0).default(0.5).unit(Unit::Fraction).group("Shape"),
        /// Size of the largest structures in samples of a picture 1920 wide; in a plume that at its source, in flames the
        /// width of a tongue.
        scale: Animated = number(20.0..=4000.0).default(420.0).unit(Unit::Pixels).soft(50.0..=1000.0).group("Shape"),
        /// How many times wider than high structures are.
        stretch: Animated = number(0.1..=10.0).default(1.0).soft(0.3..=5.0).group("Shape"),
        /// How strongly eddies bend and fold structures.
        turbulence: Animated = number(0.0..=4.0).default(1.0).soft(0.0..=2.0).group("Shape"),
        /// Fine threads, at the edges first.
        filaments: Animated = number(0.0..=1.0).default(0.5).unit(Unit::Fraction).group("Shape"),
        /// Round heaps, as of cumulus clouds, in place of wisps.
        billows: Animated = number(0.0..=1.0).default(0.0).unit(Unit::Fraction).group("Shape"),
        /// Softness of edges.
        softness: Animated = number(0.0..=1.0).default(1.0).unit(Unit::Fraction).group("Shape"),
        /// Source of a plume or flames, in fractions of width and height.
        position: Animated<[f64; 2]> =
            position(-2.0..=3.0).default([0.5, 1.0]).unit(Unit::Fraction).soft(0.0..=1.0).group("Shape"),
        /// Width of the source in samples of a picture 1920 wide.
        width: Animated = number(1.0..=8000.0).default(200.0).unit(Unit::Pixels).soft(20.0..=2000.0).group("Shape"),
        /// Height, likewise: of ground fog that over which it thins, of a plume the one at which it is gone, of flames that
        /// of the highest.
        height: Animated =
            number(1.0..=8000.0).default(600.0).unit(Unit::Pixels).soft(50.0..=2000.0).group("Shape"),
        /// Speed to the right in samples of a picture 1920 wide per second. A plume and flames lean with it.
        wind: Animated = number(-8000.0..=8000.0).default(40.0).soft(-500.0..=500.0).group("Motion"),
        /// Upward speed, likewise; in a plume and in flames that at the source, above which it grows.
        rise: Animated = number(-8000.0..=8000.0).default(0.0).soft(-300.0..=1000.0).group("Motion"),
        /// How fast eddies turn and shapes change.
        evolution: Animated = number(0.0..=20.0).default(1.0).soft(0.0..=3.0).group("Motion"),
        /// Part of the density that comes in gusts, which travel with the wind.
        gusts: Animated = number(0.0..=1.0).default(0.0).unit(Unit::Fraction).group("Motion"),
        /// Direction from which the light comes: 0 is the right, 90 above.
        light: Animated = number(-360.0..=360.0).default(127.0).unit(Unit::Degrees).group("Light"),
        /// Contrast between the lit side and the shadows that the air casts on itself.
        shade: Animated = number(0.0..=4.0).default(1.5).soft(0.0..=3.0).group("Light"),
        /// Part of the picture's own light that the air reflects, so that it is bright in daylight and dark at night. Flames
        /// glow: theirs is added.
        brightness: Animated = number(0.0..=4.0).default(0.8).soft(0.0..=1.5).group("Light"),
        /// Colour by which light is multiplied.
        color: Animated<[f64; 4]> = colour().default([1.0, 1.0, 1.0, 1.0]).group("Light"),
    }
    presets "Sets several settings at once. A setting that you give overrides the preset." {
        /// a plume of smoke from below
        "smoke" = "kind=plume:amount=2.6:scale=150:turbulence=0.6:filaments=0.4:width=260:height=1500:wind=25:rise=110:color=#e0e4ec",
        /// steam, which is white and soon gone
        "steam" = "kind=plume:amount=1.7:scale=95:turbulence=0.6:filaments=0.1:width=130:height=1300:wind=10:rise=210:evolution=1.5:brightness=1",
        /// threads of smoke in still air
        "wisps" = "amount=2.8:coverage=0.27:scale=500:turbulence=0.9:filaments=0.6:wind=50:rise=40",
        /// fog above the ground
        "fog" = "kind=ground:amount=2.2:scale=520:stretch=2.2:turbulence=0.6:filaments=0.06:wind=45:height=750:shade=1",
        /// thin banks of mist near the ground
        "mist" = "kind=ground:amount=1.8:scale=260:stretch=4:turbulence=0.6:filaments=0.25:wind=35:height=520:shade=0.9:coverage=0.42",
        /// clouds with blue between them
        "clouds" = "amount=6:coverage=0.38:scale=1100:stretch=2:turbulence=0.5:filaments=0.15:billows=0.5:softness=0.8:wind=30:shade=2.2:brightness=0.8",
        /// gusts of fine snow or spray, for blizzard and rain
        "veil" = "amount=1.1:coverage=0.8:scale=460:stretch=3:turbulence=0.8:filaments=0.12:wind=900:rise=-60:gusts=0.85:shade=0.5",
        /// flames
        "fire" = "kind=flames:amount=3:scale=100:position=0.5,1.05:width=950:height=760:wind=0:rise=520:brightness=1.9",
    }
    with seed
}

choices! {
    /// Where the air is.
    pub(super) enum Shape {
        /// over the whole picture
        Everywhere = "everywhere",
        /// above the lower edge
        Ground = "ground",
        /// it rises from a source, and widens
        Plume = "plume",
        /// they burn, and add light
        Flames = "flames",
    }
}
