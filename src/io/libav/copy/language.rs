//! Languages of streams. ISO 639-2 has two codes for some of them, and libav's muxer for QuickTime knows only the codes
//! of a list.

use crate::libav::container::{Container, ContainerFamily};

/// Codes of the same language in ISO 639-2: of bibliography and of terminology.
const TWICE: &str = "alb=sqi,arm=hye,baq=eus,bur=mya,chi=zho,cze=ces,dut=nld,fre=fra,geo=kat,ger=deu,gre=ell,ice=isl,\
    mac=mkd,mao=mri,may=msa,per=fas,rum=ron,slo=slk,tib=bod,wel=cym";

/// Codes of libav's list for QuickTime that are in neither, and their languages.
const OWN: &str = "sve=swe,iri=gle,hr =hrv,fo =fao,sr =srp,pa =pan";

/// The pair of a list that contains a code.
fn pair(list: &'static str, has: impl Fn((&str, &str)) -> bool) -> Option<(&'static str, &'static str)> {
    list.split(',').filter_map(|pair| pair.split_once('=')).find(|pair| has(*pair))
}

/// The codes that libav's muxer for QuickTime can write.
const QUICKTIME: &str = "eng,fra,ger,ita,dut,sve,spa,dan,por,nor,heb,jpn,ara,fin,gre,ice,mlt,tur,hr ,chi,urd,hin,tha,kor,\
    lit,pol,hun,est,lav,fo ,per,rus,iri,alb,ron,mol,ces,slk,slv,yid,sr ,mac,bul,ukr,bel,uzb,kaz,aze,arm,geo,kir,tgk,tuk,\
    mon,pus,kur,kas,snd,tib,nep,san,mar,ben,asm,guj,pa ,ori,mal,kan,tam,tel,bur,khm,lao,vie,ind,tgl,may,amh,tir,orm,som,\
    swa,kin,run,nya,mlg,epo,wel,baq,cat,lat,que,grn,aym,tat,uig,dzo,jav,smi,sin";

/// The code under which a container stores a language; `None` if it cannot.
pub(crate) fn language_in(to: Container, code: &str) -> Option<&str> {
    let three = code.len() == 3 && code.bytes().all(|b| b.is_ascii_lowercase());
    match (to.family(), to.name()) {
        (ContainerFamily::Mov, _) => {
            let has = |pair: (&str, &str)| pair.0 == code || pair.1 == code;
            let codes = pair(TWICE, has).or_else(|| pair(OWN, has)).unwrap_or((code, code));
            [codes.0, codes.1].into_iter().find(|code| QUICKTIME.split(',').any(|known| known == *code))
        }
        (family, name) => {
            let own = pair(OWN, |pair| pair.0 == code).map_or(code, |pair| pair.1);
            let kept = match (family, name) {
                (ContainerFamily::Mp4, _) | (_, "mpegts") => three || own != code,
                (ContainerFamily::Mkv | ContainerFamily::Webm, _) | (_, "nut" | "asf" | "ogg" | "ogv") => {
                    true
                }
                _ => false,
            };
            kept.then_some(own)
        }
    }
}
