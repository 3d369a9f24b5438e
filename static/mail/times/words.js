// @ts-check
/**
 * The words for times that people type, in English, German, French and Spanish; without accents, in lower case. Data.
 *
 * A word may be shortened if the table says so ("mon", "thur", "mittw"): the shortest form is before the bar. Where
 * languages disagree ("mar": March, martes, mardi) a month needs a day's number beside it, a weekday does not.
 */

export const MORNING = 8;
export const AFTERNOON = 15;
export const EVENING = 18;
const NOON = 12;
const END_OF_DAY = 17;

/** The weekdays, Sunday first. */
const WEEKDAYS = [
  "sun|day so|nntag dim|anche dom|ingo",
  "mon|day mo|ntag lun|di lun|es",
  "tue|sday tues|day di|enstag mar|di mar|tes",
  "wed|nesday mi|ttwoch mer|credi mie|rcoles",
  "thu|rsday thur|sday do|nnerstag jeu|di jue|ves",
  "fri|day fr|eitag ven|dredi vie|rnes",
  "sat|urday sa|mstag sonnabend| sam|edi sab|ado",
];
/** The months, January first. */
const MONTHS = [
  "jan|uary jan|uar janv|ier ene|ro", "feb|ruary feb|ruar fev|rier feb|rero", "mar|ch mrz| marz| maerz| mars| mar|zo",
  "apr|il avr|il abr|il", "may| mai| may|o", "jun|e jun|i juin| jun|io", "jul|y jul|i juil|let jul|io",
  "aug|ust aou|t ago|sto", "sep|tember sept|ember sep|tembre sep|tiembre", "oct|ober okt|ober oct|obre oct|ubre",
  "nov|ember nov|embre nov|iembre", "dec|ember dez|ember dec|embre dic|iembre",
];

/** How many days from today. */
const DAYS = {
  0: "today heute aujourd'hui aujourdhui hoy",
  1: "tomorrow tom tmr tmrw tomo morgen demain manana",
  2: "overmorrow ubermorgen uebermorgen apres-demain apresdemain pasado_manana day_after_tomorrow",
};
/** The hour that a part of the day begins with. @type {Record<number, string>} */
const PARTS = {
  [MORNING]: "morning vormittag fruh frueh matin por_la_manana de_la_manana am_morgen this_morning",
  [NOON]: "noon midday lunch lunchtime mittag midi mediodia",
  [AFTERNOON]: "afternoon nachmittag apres-midi apresmidi tarde por_la_tarde esta_tarde this_afternoon",
  [EVENING]: "evening tonight abend soir ce_soir noche esta_noche por_la_noche night this_evening",
  [END_OF_DAY]: "eod cob end_of_day end_of_the_day close_of_business feierabend",
};
const UNITS = {
  minute: "m min mins minute minutes minuten minuto minutos",
  hour: "h hr hrs hour hours std stunde stunden heure heures hora horas",
  day: "d day days tag tage tagen jour jours dia dias",
  week: "w wk wks week weeks woche wochen semaine semaines semana semanas",
  month: "month months monat monate monaten mois mes meses",
};
const COUNTS = { 0.5: "half_an half_a halbe", 1: "a an one ein eine einer einem un une una",
  2: "two couple zwei deux dos", 3: "three drei trois tres" };
const SPANS = {
  week: "next_week nachste_woche naechste_woche kommende_woche semaine_prochaine la_semaine_prochaine " +
    "la_semana_que_viene semana_que_viene proxima_semana la_proxima_semana",
  weekend: "weekend this_weekend wochenende am_wochenende week-end ce_week-end fin_de_semana",
  month: "next_month nachsten_monat naechsten_monat le_mois_prochain mois_prochain proximo_mes el_proximo_mes",
  endOfWeek: "eow end_of_week end_of_the_week",
  endOfMonth: "eom end_of_month end_of_the_month",
};
/** Words without a meaning of their own. */
export const FILLERS = new Set(("at on by the um uhr am gegen bis den der le la les el los a las de en del o'clock "
  + "oclock this diese dieser ce cette este h sharp later").split(" "));
export const NEXT = new Set(("next nachste nachsten nachster naechste naechsten naechster prochain prochaine proximo "
  + "proxima").split(" "));
export const IN = new Set("in dans en after nach".split(" "));

export const WEEKDAY = numbered(WEEKDAYS);
export const MONTH = numbered(MONTHS);
export const DAY = byWord(DAYS, Number);
export const PART = byWord(PARTS, Number);
export const UNIT = byWord(UNITS, (unit) => /** @type {keyof typeof UNITS} */ (unit));
export const COUNT = byWord(COUNTS, Number);
export const SPAN = byWord(SPANS, (span) => /** @type {keyof typeof SPANS} */ (span));
/** Phrases of several words, the longest first: they are read as one word. */
export const PHRASES = [DAYS, PARTS, COUNTS, SPANS].flatMap((table) => Object.values(table).join(" ").split(" "))
  .filter((word) => word.includes("_")).sort((one, other) => other.length - one.length);

/**
 * @template Value
 * @param {Record<string | number, string>} table
 * @param {(key: string) => Value} read
 */
function byWord(table, read) {
  return new Map(Object.entries(table).flatMap(([key, words]) =>
    words.split(" ").map((word) => /** @type {[string, Value]} */ ([word, read(key)]))));
}

/** Every shortening of each word, with its place in the list. @param {string[]} table */
function numbered(table) {
  /** @type {Map<string, number>} */
  const found = new Map();
  table.forEach((words, number) => {
    for (const word of words.split(" ")) {
      const [least = "", rest = ""] = word.split("|");
      for (let more = 0; more <= rest.length; more += 1) {
        if (!found.has(least + rest.slice(0, more))) found.set(least + rest.slice(0, more), number);
      }
    }
  });
  return found;
}
