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
        "smoke" = "kind=plume:amount=6:scale=110:turbulence=0.4:filaments=0:billows=1:softness=0.6:width=100:height=1500:wind=25:rise=110:shade=1.5:color=#e0e4ec",
        /// steam, which is white and soon gone
        "steam" = "kind=plume:amount=2.6:scale=95:turbulence=0.6:filaments=0:billows=0.4:width=100:height=1050:wind=10:rise=210:evolution=1.5:shade=1.8:brightness=1.1",
        /// threads of smoke in still air
        "wisps" = "amount=3.5:coverage=0.27:scale=700:turbulence=1.4:filaments=0.5:wind=50:rise=40",
        /// fog above the ground
        "fog" = "kind=ground:amount=2.6:scale=640:stretch=1.8:turbulence=0.9:filaments=0.05:billows=0.2:wind=45:height=800:shade=2.5:coverage=0.45",
        /// thin banks of mist near the ground
        "mist" = "kind=ground:amount=2.4:scale=480:stretch=2.2:turbulence=0.9:filaments=0.12:billows=0.15:wind=35:height=560:shade=1.6:coverage=0.4",
        /// clouds with blue between them
        "clouds" = "amount=12:coverage=0.42:scale=640:stretch=1.3:turbulence=0.15:filaments=0:billows=1:softness=0.25:wind=30:light=110:shade=2:brightness=0.95",
        /// gusts of fine snow or spray, for blizzard and rain
        "veil" = "amount=4:coverage=0.52:scale=420:stretch=3.5:turbulence=0.8:filaments=0.25:billows=0.35:wind=900:rise=-60:gusts=0.75:shade=3:brightness=1",
        /// flames
        "fire" = "kind=flames:amount=4:scale=110:position=0.5,1.05:width=950:height=760:wind=0:rise=520:brightness=2.2",
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
