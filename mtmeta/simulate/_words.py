"""Vocabulary of the teaching grammar: German words, their English renderings, and how those go wrong.

Tables are written one entry a line, fields separated by ``|``. A comma separates alternatives that
mean the same; the reference and the systems choose among them.

* nouns: ``lemma | gender | genitive ending | plural | English | wrong English | classes``.
  Gender ``mn`` is a weak masculine, ``p`` occurs in the plural only; plural ``-`` is a mass noun. An
  English noun followed by ``*`` takes a plural verb, by ``~`` no article. A wrong rendering that starts
  with ``:`` is a terminology error, any other a mistranslation.
* verbs: ``infinitive | forms | frame | English | wrong English | subjects > objects > second objects | manner``.
  ``+`` follows a separable prefix. Forms are ``w`` (weak), ``w0`` (weak, participle without ge-) or
  ``3rd person present, preterite, participle``; a final ``s`` takes *sein* in the perfect. Frames: ``-``
  no object, ``a`` accusative, ``d`` dative, ``da`` both, ``P:prep+case`` a prepositional object, ``aP:…``
  accusative and prepositional, ``r`` in front reflexive, ``S`` dative experiencer that is the English
  subject. In an English verb ``_`` marks where the object goes and ``^`` a movable particle.
* adjectives: ``stem | English | wrong English | classes``; a stem in brackets is used before endings.
"""

from __future__ import annotations

NOUNS = {
    "news": """
Ministerin|f||Ministerinnen|minister||hum
Bürgermeister|m|s|Bürgermeister|mayor|:master of citizens|hum
Bürgermeisterin|f||Bürgermeisterinnen|mayor||hum
Sprecherin|f||Sprecherinnen|spokeswoman, spokesperson|speaker|hum role
Sprecher|m|s|Sprecher|spokesman, spokesperson|speaker|hum role
Leiterin|f||Leiterinnen|director, head|ladder|hum role
Geschäftsführer|m|s|Geschäftsführer|managing director, chief executive|:business leader|hum role
Präsident|mn|en|Präsidenten|president||hum role
Forscherin|f||Forscherinnen|researcher, scientist|explorer|hum
Professor|m|s|Professoren|professor||hum
Richterin|f||Richterinnen|judge|referee|hum
Anwalt|m|s|Anwälte|lawyer, attorney||hum
Experte|mn|n|Experten|expert, specialist||hum
Chefin|f||Chefinnen|head, boss|chef|hum role
Trainer|m|s|Trainer|coach|trainer|hum
Zeuge|mn|n|Zeugen|witness||hum
Ökonomin|f||Ökonominnen|economist|ecologist|hum
Unternehmerin|f||Unternehmerinnen|businesswoman, entrepreneur|undertaker|hum
Anwohner|m|s|Anwohner|resident, local resident||grp
Mitarbeiter|m|s|Mitarbeiter|employee, staff member|co-worker|grp emp
Fachkraft|f||Fachkräfte|skilled worker, specialist|:force of trade/forces of trade|emp
Kunde|mn|n|Kunden|customer, client||grp
Demonstrant|mn|en|Demonstranten|demonstrator, protester||grp
Wissenschaftler|m|s|Wissenschaftler|scientist, researcher||grp
Schüler|m|s|Schüler|pupil, student|scholar|grp
Landwirt|m|s|Landwirte|farmer|landlord|grp
Tourist|mn|en|Touristen|tourist, visitor||grp
Patient|mn|en|Patienten|patient||grp
Pendler|m|s|Pendler|commuter||grp
Händler|m|s|Händler|retailer, trader||grp
Kritiker|m|s|Kritiker|critic, opponent||grp
Unternehmen|n|s|Unternehmen|company, firm|undertaking|org employer
Konzern|m|s|Konzerne|group, corporation|concern|org employer
Bank|f||Banken|bank|bench|org employer
Behörde|f||Behörden|authority, agency||org
Ministerium|n|s|Ministerien|ministry, department||org
Stadtrat|m|s|Stadträte|city council, town council|:city advice|org
Gericht|n|s|Gerichte|court|dish|org
Gewerkschaft|f||Gewerkschaften|union, trade union||org
Partei|f||Parteien|party, political party|side|org
Regierung|f||Regierungen|government||org
Verband|m|s|Verbände|association, federation|bandage|org
Universität|f||Universitäten|university||org
Krankenhaus|n|es|Krankenhäuser|hospital, clinic|:sick house|org employer
Verein|m|s|Vereine|club, association||org
Stiftung|f||Stiftungen|foundation|donation|org
Polizei|f||-|police*||org
Plan|m|s|Pläne|plan, scheme|plane|plan
Reform|f||Reformen|reform||plan
Gesetz|n|es|Gesetze|law, act||plan
Vertrag|m|s|Verträge|contract, agreement||plan
Projekt|n|s|Projekte|project||plan
Vorschlag|m|s|Vorschläge|proposal, suggestion||plan
Programm|n|s|Programme|programme, scheme||plan
Abkommen|n|s|Abkommen|agreement, deal||plan
Maßnahme|f||Maßnahmen|measure, step|measurement|plan
Strategie|f||Strategien|strategy||plan
Steuer|f||Steuern|tax, levy|steering wheel|plan
Regelung|f||Regelungen|regulation, rule||plan
Kürzung|f||Kürzungen|cut, reduction|abbreviation|plan
Werk|n|es|Werke|plant, factory|work|site build
Brücke|f||Brücken|bridge||site build
Schule|f||Schulen|school||site build
Bahnhof|m|s|Bahnhöfe|station, railway station|yard|site build
Flughafen|m|s|Flughäfen|airport|harbour|site build
Museum|n|s|Museen|museum||site
Fabrik|f||Fabriken|factory, plant|fabric|site build
Stadion|n|s|Stadien|stadium, arena||site build
Rathaus|n|es|Rathäuser|town hall, city hall|:council house|site
Bibliothek|f||Bibliotheken|library|bookshop|site
Filiale|f||Filialen|branch, store|subsidiary|site
Tunnel|m|s|Tunnel|tunnel||site build
Schloss|n|es|Schlösser|castle, palace|lock|site
Gymnasium|n|s|Gymnasien|grammar school, secondary school|gym|site build
Kraftwerk|n|s|Kraftwerke|power plant, power station|:force plant|site build
Lager|n|s|Lager|warehouse, depot|camp|site build
Theater|n|s|Theater|theatre||site
Streik|m|s|Streiks|strike, walkout||event
Konferenz|f||Konferenzen|conference||event
Sitzung|f||Sitzungen|meeting, session|seat|event
Wahl|f||Wahlen|election, vote|choice|event
Messe|f||Messen|trade fair, fair|mass|event
Feier|f||Feiern|celebration, ceremony||event
Prozess|m|es|Prozesse|trial, court case|process|event
Demonstration|f||Demonstrationen|demonstration, protest||event
Abstimmung|f||Abstimmungen|vote, ballot|coordination|event
Ausstellung|f||Ausstellungen|exhibition|issuance|event
Unfall|m|s|Unfälle|accident, crash||acc
Brand|m|es|Brände|fire, blaze|brand|acc
Stromausfall|m|s|Stromausfälle|power outage, blackout|:stream failure|acc
Überfall|m|s|Überfälle|robbery, raid|attack|acc
Bericht|m|s|Berichte|report||doc
Studie|f||Studien|study||doc
Gutachten|n|s|Gutachten|expert report, assessment||doc
Umfrage|f||Umfragen|survey, poll||doc
Stellungnahme|f||Stellungnahmen|statement|position|doc
Prognose|f||Prognosen|forecast|:prognosis|doc
Verzögerung|f||Verzögerungen|delay||issue
Engpass|m|es|Engpässe|shortage, bottleneck|:narrow pass|issue
Krise|f||Krisen|crisis/crises||issue
Risiko|n|s|Risiken|risk, danger||issue
Verlust|m|es|Verluste|loss/losses||issue
Folge|f||Folgen|consequence, effect|episode|issue
Konflikt|m|s|Konflikte|conflict, dispute||issue
Schwierigkeit|f||Schwierigkeiten|difficulty, problem||issue
Umsatz|m|es|-|turnover~, revenue~|conversion~|quant
Gewinn|m|s|-|profit, profits*|prize|quant
Nachfrage|f||-|demand~|inquiry|quant
Arbeitslosigkeit|f||-|unemployment~||quant
Energieverbrauch|m|s|-|energy consumption~, energy use~||quant
Produktion|f||-|production~, output~||quant
Miete|f||Mieten|rent|loan|cost
Preis|m|es|Preise|price|prize|cost
Gebühr|f||Gebühren|fee, charge||cost
Beitrag|m|s|Beiträge|contribution, fee|article|cost
""",
    "reviews": """
Hotel|n|s|Hotels|hotel||lodging main
Pension|f||Pensionen|guest house, boarding house|pension|lodging main
Ferienwohnung|f||Ferienwohnungen|holiday flat, holiday apartment||lodging main
Zimmer|n|s|Zimmer|room||room
Bett|n|es|Betten|bed||furn
Bad|n|es|Bäder|bathroom|bath|room
Frühstück|n|s|-|breakfast|:early piece|food
Personal|n|s|-|staff*|:personal|person
Aussicht|f||-|view|prospect|sight
Lage|f||-|location|situation|sight
Balkon|m|s|Balkone|balcony||room
Schwimmbad|n|s|Schwimmbäder|swimming pool, pool||room
Rezeption|f||-|reception, front desk||room
Dusche|f||Duschen|shower||furn
Aufzug|m|s|Aufzüge|lift, elevator|outfit|furn
Parkplatz|m|es|Parkplätze|car park, parking lot|:park place|room
Sessel|m|s|Sessel|armchair|ski lift|furn
Kamera|f||Kameras|camera||gadget main
Koffer|m|s|Koffer|suitcase|trunk|gadget main
Staubsauger|m|s|Staubsauger|vacuum cleaner, hoover|:dust sucker|gadget main
Kaffeemaschine|f||Kaffeemaschinen|coffee maker, coffee machine||gadget main
Handy|n|s|Handys|mobile phone, phone|handy|gadget main
Drucker|m|s|Drucker|printer||gadget main
Uhr|f||Uhren|watch|hour|gadget main
Rucksack|m|s|Rucksäcke|backpack, rucksack||gadget main
Tastatur|f||Tastaturen|keyboard||gadget main
Wecker|m|s|Wecker|alarm clock||gadget main
Akku|m|s|Akkus|battery||gpart
Bildschirm|m|s|Bildschirme|screen, display|:picture umbrella|gpart
Verpackung|f||-|packaging||gserv
Lieferung|f||-|delivery|supply|gserv slow
Anleitung|f||Anleitungen|manual, guide||gserv
Kundendienst|m|es|-|customer service~, customer support~|:client duty|gserv slow
Qualität|f||-|quality||gserv
Gehäuse|n|s|Gehäuse|casing, housing||gpart
Griff|m|s|Griffe|handle, grip||gpart
Reißverschluss|m|es|Reißverschlüsse|zip, zipper|:tear lock|gpart
Verarbeitung|f||-|workmanship, build quality|processing|gserv
Stecker|m|s|Stecker|plug||gpart
Deckel|m|s|Deckel|lid, cover|ceiling|gpart
Restaurant|n|s|Restaurants|restaurant||inn main
Café|n|s|Cafés|café, coffee shop||inn main
Gasthaus|n|es|Gasthäuser|inn, pub|:guest house|inn main
Suppe|f||Suppen|soup||dish
Salat|m|s|Salate|salad|lettuce|dish
Fisch|m|es|Fische|fish/fish||dish
Kuchen|m|s|Kuchen|cake||dish
Gericht|n|s|Gerichte|dish, meal|court|dish
Nachspeise|f||Nachspeisen|dessert, pudding|:after food|dish
Wein|m|s|Weine|wine||dish
Brot|n|es|Brote|bread~/breads||food
Kellnerin|f||Kellnerinnen|waitress, server||person
Bedienung|f||-|service|operation|person
Speisekarte|f||Speisekarten|menu|:food card|menu
Terrasse|f||Terrassen|terrace, patio||room
Portion|f||Portionen|portion, serving||food
Rechnung|f||Rechnungen|bill|calculation|bill
Roman|m|s|Romane|novel|Roman/Romans|story main
Film|m|s|Filme|film, movie||story main
Buch|n|es|Bücher|book||story main
Serie|f||Serien|series/series||story main
Handlung|f||-|plot, story|action|spart
Figur|f||Figuren|character|figure|spart
Ende|n|s|-|ending, end||spart
Sprache|f||-|language|speech|spart
Schauspielerin|f||Schauspielerinnen|actress, actor||artist
Autor|m|s|Autoren|author, writer|car driver|artist
Regisseur|m|s|Regisseure|director|:stage manager|artist
Musik|f||-|music||spart
Anfang|m|s|-|beginning, opening||spart
Dialog|m|s|Dialoge|dialogue||spart
Humor|m|s|-|humour|mood|spart
Kapitel|n|s|Kapitel|chapter|capital|spart
Übersetzung|f||-|translation|gear ratio|spart
""",
    "manuals": """
Gerät|n|es|Geräte|device, appliance||device
Maschine|f||Maschinen|machine||device
Drucker|m|s|Drucker|printer||device
Kessel|m|s|Kessel|boiler|kettle|device
Rasenmäher|m|s|Rasenmäher|lawn mower, mower||device
Spülmaschine|f||Spülmaschinen|dishwasher|:rinsing machine|device
Mixer|m|s|Mixer|blender, mixer||device
Motor|m|s|Motoren|motor, engine||motor
Pumpe|f||Pumpen|pump||motor part
Taste|f||Tasten|button, key||button
Schalter|m|s|Schalter|switch|counter|button
Deckel|m|s|Deckel|lid, cover|ceiling|lid
Klappe|f||Klappen|flap|:clapper|lid
Ventil|n|s|Ventile|valve|fan|lid
Filter|m|s|Filter|filter||part wash
Sicherung|f||Sicherungen|fuse|backup|cell
Bürste|f||Bürsten|brush||part wash
Dichtung|f||Dichtungen|seal, gasket|poetry|part wash
Sieb|n|s|Siebe|strainer, sieve||part wash
Speicherkarte|f||Speicherkarten|memory card|:attic card|cell
Batterie|f||Batterien|battery||cell batt
Akku|m|s|Akkus|rechargeable battery, battery pack||batt
Wassertank|m|s|Wassertanks|water tank||tank
Behälter|m|s|Behälter|container||tank
Netzstecker|m|s|Netzstecker|mains plug, power plug|:net plug|plug
Kabel|n|s|Kabel|cable||cable
Netzkabel|n|s|Netzkabel|power cable, mains cable|:net cable|cable
Schlauch|m|s|Schläuche|hose, tube||cable
Steckdose|f||Steckdosen|socket, power outlet|:plug can|socket
Anschluss|m|es|Anschlüsse|connector, port|follow-up|socket
Anzeige|f||Anzeigen|display, indicator|advertisement|lamp
Kontrollleuchte|f||Kontrollleuchten|indicator light, pilot light|:control shine|lamp
Lampe|f||Lampen|lamp, light||lamp
Schraube|f||Schrauben|screw||screw
Mutter|f||Muttern|nut|mother|screw
Bedienfeld|n|s|Bedienfelder|control panel, operating panel|:service field|surface
Gehäuse|n|s|Gehäuse|housing, casing||surface
Klinge|f||Klingen|blade||blade cutter
Messer|n|s|Messer|knife/knives, blade|meter|blade cutter
Heizplatte|f||Heizplatten|hot plate, heating plate||blade heater
Passwort|n|s|Passwörter|password||setting
Einstellung|f||Einstellungen|setting|attitude|setting mode
Temperatur|f||Temperaturen|temperature||setting level
Drehzahl|f||Drehzahlen|speed, rotational speed|:turn number|setting level
Programm|n|s|Programme|programme, program||mode
Tuch|n|s|Tücher|cloth|scarf/scarves|soft
Schraubendreher|m|s|Schraubendreher|screwdriver|:screw turner|tool
Schwamm|m|s|Schwämme|sponge||soft
Zubehör|n|s|-|accessories*||access
Reinigungsmittel|n|s|Reinigungsmittel|cleaning agent, detergent||access
Ersatzteil|n|s|Ersatzteile|spare part, replacement part|:substitute piece|access
Techniker|m|s|Techniker|technician, service engineer|:technologist|techn
Händler|m|s|Händler|dealer, retailer||techn
""",
    "conversation": """
Schwester|f||Schwestern|sister|nurse|hum fem
Bruder|m|s|Brüder|brother||hum
Nachbarin|f||Nachbarinnen|neighbour, next-door neighbour||hum fem
Freund|m|es|Freunde|friend, mate|boyfriend|hum
Freundin|f||Freundinnen|friend, girlfriend||hum fem
Mutter|f||Mütter|mother, mum|nut|hum fem
Vater|m|s|Väter|father, dad||hum
Kollegin|f||Kolleginnen|colleague, co-worker|:fellow worker|hum fem
Chef|m|s|Chefs|boss, manager|chef|hum
Arzt|m|es|Ärzte|doctor, GP||hum
Lehrerin|f||Lehrerinnen|teacher||hum fem
Vermieter|m|s|Vermieter|landlord|tenant|hum
Zug|m|es|Züge|train|move|vehicle
Bus|m|ses|Busse|bus/buses||vehicle
Flug|m|es|Flüge|flight||vehicle
Straßenbahn|f||Straßenbahnen|tram, streetcar|:street train|vehicle
Auto|n|s|Autos|car|auto|thing drive
Fahrrad|n|es|Fahrräder|bike, bicycle|:driving wheel|thing drive
Schlüssel|m|s|Schlüssel|key|clef|thing
Handy|n|s|Handys|phone, mobile|handy|thing
Brille|f||Brillen|glasses*||thing
Jacke|f||Jacken|jacket||thing
Schirm|m|s|Schirme|umbrella|screen|thing
Ausweis|m|es|Ausweise|ID card, identity card|reference|thing
Tasche|f||Taschen|bag|pocket|thing
Kuchen|m|s|Kuchen|cake||food
Suppe|f||Suppen|soup||food
Salat|m|s|Salate|salad|lettuce|food
Pizza|f||Pizzas|pizza||food
Geschenk|n|s|Geschenke|present, gift||item
Buch|n|es|Bücher|book||item read
Brief|m|es|Briefe|letter|brief|post read
Nachricht|f||Nachrichten|message, text|news*|read
Paket|n|s|Pakete|parcel, package|packet|item
Karte|f||Karten|ticket, card|map|item
Rezept|n|es|Rezepte|recipe|receipt|read
Wohnung|f||Wohnungen|flat, apartment||home
Haus|n|es|Häuser|house||home
Zimmer|n|s|Zimmer|room||home
Termin|m|s|Termine|appointment|deadline|date
Prüfung|f||Prüfungen|exam, examination|trial|date
Feier|f||Feiern|party, celebration||date
Besprechung|f||Besprechungen|meeting|review|date
Urlaub|m|s|-|holiday, vacation||date
Film|m|s|Filme|film, movie||show
Konzert|n|es|Konzerte|concert, gig||show
Spiel|n|es|Spiele|game, match|play|show
Rechnung|f||Rechnungen|bill|calculation|bill
Miete|f||Mieten|rent|loan|bill
Hund|m|es|Hunde|dog||pet
Katze|f||Katzen|cat||pet
Wetter|n|s|-|weather||state
Idee|f||Ideen|idea||abst
Problem|n|s|Probleme|problem||abst
Frage|f||Fragen|question||abst
""",
}

VERBS = {
    "news": """
an+kündigen|w|a|announce, unveil|:give notice of|org hum > plan event|sudden
vor+stellen|w|a|present, introduce|imagine|org hum > plan doc|
kritisieren|w|a|criticise, criticize, attack|review|hum grp org > plan|sharp
ab+lehnen|w|a|reject, oppose|:lean off|hum grp org > plan|firm
unterstützen|w0|a|support, back|underpin|hum org grp > plan|firm
prüfen|w|a|examine, review|audit|org > plan doc|careful
beschließen|beschließt,beschloss,beschlossen|a|adopt, approve|close|org > plan|
verschieben|verschiebt,verschob,verschoben|a|postpone, put ^off|push|org hum > event|again
veröffentlichen|w|a|publish, release||org > doc|
bauen|w|a|build, construct|grow|org > build|
eröffnen|w|a|open, inaugurate|disclose|org hum > site|
schließen|schließt,schloss,geschlossen|a|close, shut ^down|conclude|org > site|
sanieren|w|a|renovate, refurbish|sanitise|org > site|
fordern|w|a|demand, call for|promote|grp hum > plan|loud
verteidigen|w|a|defend, justify||hum org > plan|firm
untersuchen|w0|a|investigate, look into|search|org > acc|careful
besuchen|w|a|visit, tour||hum grp > site|
ab+sagen|w|a|cancel, call ^off|say off|org hum > event|sudden
organisieren|w|a|organise, organize, arrange||org grp > event|
finanzieren|w|a|finance, fund||org > site plan|
verhindern|w|a|prevent, block|hinder|grp org > plan|
loben|w|a|praise, commend||hum grp > plan|
begrüßen|w|a|welcome|greet|hum grp org > plan|
warnen|w|P:vor+d|warn of, warn about|:warn before|org hum > issue|loud
rechnen|w|P:mit+d|expect, anticipate|calculate with|org hum > issue|
verzichten|w|P:auf+a|abandon, drop|:renounce on|org > plan|
teil+nehmen|nimmt,nahm,genommen|P:an+d|take part in, participate in|:partake at|grp hum > event|
beschweren|w|rP:über+a|complain about|weigh down|grp > issue plan|loud
protestieren|w|P:gegen+a|protest against, demonstrate against|protest for|grp > plan|loud
zu+stimmen|w|d|approve, agree to|:vote to|org hum > plan|
entlassen|entlässt,entließ,entlassen|a|lay ^off, dismiss|release|employer > emp|
ein+stellen|w|a|hire, recruit, take ^on|adjust|employer > emp|
informieren|w|aP:über+a|inform _ about, brief _ on||org hum > grp > plan issue|
übernehmen|übernimmt,übernahm,übernommen|a|take ^over, acquire|overtake|employer > site|
verkaufen|w|a|sell|buy|employer > site|
erläutern|w|a|explain, outline||hum > plan doc|careful
erhöhen|w|a|raise, increase|heighten|org > cost|
senken|w|a|lower, reduce|sink|org > cost|
""",
    "reviews": """
kaufen|w|a|buy, purchase|sell|self > gadget|
bestellen|w|a|order|appoint|self > gadget dish|
buchen|w|a|book, reserve||self > lodging|
zurück+schicken|w|a|return, send ^back|:send retour|self > gadget|
empfehlen|empfiehlt,empfahl,empfohlen|a|recommend|commend to|self > main|
testen|w|a|test, try ^out|taste|self > gadget|
genießen|genießt,genoss,genossen|a|enjoy, savour|consume|self > dish sight food|
probieren|w|a|try, sample|rehearse|self > dish|
vermissen|w|a|miss|miss out on|self > food|
überraschen|w|a|surprise|startle|spart sight > me|
überzeugen|w|a|convince, impress|:persuade|spart main gpart > me|
enttäuschen|w|a|disappoint, let ^down|deceive|spart main gserv > me|
""",
    "manuals": """
ein+schalten|w|a|switch ^on, turn ^on|:switch ^in|you > device motor lamp|
aus+schalten|w|a|switch ^off, turn ^off|eliminate|you > device motor|
öffnen|w|a|open||you > lid|careful
schließen|schließt,schloss,geschlossen|a|close, shut|conclude|you > lid|firmly
entfernen|w|a|remove, take ^out|:distance|you > part cell tank|careful
reinigen|w|a|clean|purify|you > wash surface tank|thorough regular
ersetzen|w|a|replace|:compensate|you > part cell cable|
aus+tauschen|w|a|replace, exchange|discuss|you > part cell cable|
ein+setzen|w|a|insert, put ^in|deploy|you > part cell batt|correct
an+schließen|schließt,schloss,geschlossen|aP:an+a|connect _ to, attach _ to|follow _ to|you > cable device > socket|
füllen|w|a|fill||you > tank|
leeren|w|a|empty||you > tank|regular
heraus+nehmen|nimmt,nahm,genommen|a|take ^out, remove|:take there out|you > part cell batt|careful
lösen|w|a|loosen, undo|solve|you > screw|careful
an+ziehen|zieht,zog,gezogen|a|tighten|put ^on|you > screw|firmly
auf+laden|lädt,lud,geladen|a|charge, recharge|load ^up|you > batt|fully
speichern|w|a|save, store||you > setting|
aus+wählen|w|a|select, choose|elect|you > mode level|
ein+stellen|w|a|adjust, set|hire|you > level|correct
ändern|w|a|change, modify||you > setting|
ziehen|zieht,zog,gezogen|a|pull ^out, unplug|:draw|you > plug|
drücken|w|a|press, push|print|you > button|briefly
berühren|w|a|touch|move|you > blade|
auf+bewahren|w0|a|store, keep|:preserve up|you > device access|safe
verwenden|w|a|use|turn|you > access tool soft|
schmieren|schmiert,schmierte,geschmiert|a|lubricate, grease|smear|you > screw motor|regular
trocknen|w|a|dry||you > wash tank|thorough
spülen|w|a|rinse, wash|flush|you > wash tank|thorough
überprüfen|w0|a|check, inspect|overlook|you > cable part cell screw|regular careful
aktivieren|w|a|activate, enable||you > mode|
blinken|w|-|flash, blink||lamp >|
leuchten|w|-|light up, glow|shine|lamp >|
laufen|läuft,lief,gelaufen,s|-|run|walk|device motor >|
ab+kühlen|w,s|-|cool down|chill out|device motor heater >|
starten|w,s|-|start||device motor >|
piepen|w|-|beep|peep|device >|
überhitzen|w0,s|-|overheat|:superheat|device motor >|
fest+sitzen|sitzt,saß,gesessen|-|be stuck|sit firmly|wash lid >|
""",
    "conversation": """
treffen|trifft,traf,getroffen|a|meet, run into|hit|self > hum|
an+rufen|ruft,rief,gerufen|a|call, ring|call ^out|self > hum|
besuchen|w|a|visit, pay a visit to||self > hum|
ein+laden|lädt,lud,geladen|a|invite|load ^in|self > hum|
fragen|w|a|ask||self > hum|
vergessen|vergisst,vergaß,vergessen|a|forget|forgive|self > thing date|
mit+bringen|bringt,brachte,gebracht|a|bring, bring along|spend|self > food item|
suchen|w|a|look for, search for||self > thing home|
finden|findet,fand,gefunden|a|find||self > thing home|
verlieren|verliert,verlor,verloren|a|lose|leave|self > thing|
ab+holen|w|a|pick ^up, collect|fetch ^down|self > item hum|
kochen|w|a|cook, make|boil|self > food|
probieren|w|a|try, taste|rehearse|self > food|
lesen|liest,las,gelesen|a|read||self > read|
schreiben|schreibt,schrieb,geschrieben|a|write||self > read|
brauchen|w|a|need|use|self > thing item|
bezahlen|w|a|pay||self > bill|
verpassen|w|a|miss|pass|self > vehicle|
sehen|sieht,sah,gesehen|a|see, watch|watch over|self > show|
kaufen|w|a|buy, get|sell|self > item thing|
reparieren|w|a|repair, fix|prepare|self > drive|
verkaufen|w|a|sell|buy|self > drive home|
verschieben|verschiebt,verschob,verschoben|a|postpone, move|:push|self > date|
ab+sagen|w|a|cancel, call ^off|say off|self > date|
mieten|w|a|rent|hire ^out|self > home drive|
helfen|hilft,half,geholfen|d|help||self > hum|
danken|w|d|thank||self > hum|
zeigen|w|da|show|point|self > hum > item home|
geben|gibt,gab,gegeben|da|give||self > hum > item thing|
schicken|w|da|send||self > hum > item post|
leihen|leiht,lieh,geliehen|da|lend|borrow|self > hum > thing drive|
warten|w|P:auf+a|wait for|wait on|self > vehicle hum|
freuen|w|rP:auf+a|look forward to|be glad on|self > date show|
erinnern|w|rP:an+a|remember|remind|self > hum show|
denken|denkt,dachte,gedacht|P:an+a|think of, think about||self > date hum|
kümmern|w|rP:um+a|take care of, look after|worry about|self > pet|
sprechen|spricht,sprach,gesprochen|P:mit+d|talk to, speak to||self > hum|
ärgern|w|rP:über+a|be annoyed about, be angry about|tease|self > bill abst|
""",
}

ADJECTIVES = {
    "news": """
neu|new||plan site org hum doc
umstritten|controversial, disputed|contested by all|plan
geplant|planned, proposed||plan site event
wichtig|important, major||plan event doc
ehrgeizig|ambitious||plan
langfristig|long-term|lengthy|plan
gemeinsam|joint, common|mean|plan
aktuell|current, latest|actual|doc plan issue
alt|old||site
groß|large, big|great|site org issue
modern|modern, state-of-the-art||site
historisch|historic|historical|site
zuständig|responsible, competent||org
staatlich|state-run, public|stately|org
örtlich|local||org
ehemalig|former|then|hum
erfahren|experienced|informed|hum emp
jung|young||grp hum
betroffen|affected|concerned|grp org
besorgt|worried, concerned||grp
unabhängig|independent||hum org doc
schwer|serious, severe|heavy|acc
ausführlich|detailed, extensive||doc
vertraulich|confidential|familiar|doc
international|international||event
mehrtägig|several-day, multi-day|daily|event
erheblich|considerable, significant||issue
weiter|additional, further|wide|issue site
finanziell|financial|final|issue
""",
    "reviews": """
gut|good||food dish gpart gserv spart story gadget inn lodging menu
schlecht|bad, poor||food dish gserv spart artist menu
enttäuschend|disappointing|disappointed|food dish gserv spart story sight artist lodging inn
hervorragend|excellent, outstanding|protruding|food dish gserv spart sight story
sauber|clean|clear|room
schmutzig|dirty||room
laut|noisy, loud||room lodging inn
ruhig|quiet, calm||room sight
klein|small||room furn
geräumig|spacious, roomy|:space-rich|room
bequem|comfortable|convenient|furn
veraltet|outdated, dated|aged|room furn gadget
modern|modern, contemporary||room furn lodging
freundlich|friendly, kind||person
unfreundlich|unfriendly, rude||person
aufmerksam|attentive|attention-seeking|person
hilfsbereit|helpful||person
langsam|slow||person slow
leicht|light|easy|gadget
schwer|heavy|difficult|gadget
praktisch|practical, handy|convenient|gadget furn
zuverlässig|reliable, dependable||gadget slow
stabil|sturdy, robust|stable|gpart
kompliziert|complicated||gadget
defekt|faulty, defective|defect|gpart
lecker|delicious, tasty|delicate|dish food
frisch|fresh||dish food
kalt|cold||dish
versalzen|too salty|salted|dish
scharf|spicy, hot|sharp|dish
spannend|exciting, gripping|tense|story spart
langweilig|boring, dull|lengthy|story spart
lustig|funny, amusing||story spart
überraschend|surprising, unexpected||spart
traurig|sad||spart story
vorhersehbar|predictable|foreseen|spart story
glaubwürdig|believable, credible|faithful|spart artist
talentiert|talented, gifted||artist
bekannt|well-known, famous|familiar|artist inn
günstig|cheap, affordable|favourable|gadget lodging dish
teuer=teur|expensive, pricey|dear|gadget lodging dish menu
""",
    "manuals": """
leer|empty||batt tank
voll|full||tank
trocken|dry||soft surface
feucht|damp, moist||soft
weich|soft||soft
defekt|faulty, defective|defect|part cell cable lamp
rot|red||lamp button
grün|green||lamp button
sauber|clean|clear|soft tool wash
heiß|hot||heater motor
beschädigt|damaged||cable part cell
mitgeliefert|supplied, included|:co-delivered|tool soft access cable
ander|different, other||access setting
neu|new||part cell batt
gewünscht|desired, required|wished|setting
scharf|sharp|spicy|cutter
locker|loose|relaxed|screw
verschmutzt|dirty, soiled|polluted|wash surface
""",
    "conversation": """
neu|new||thing item home drive abst
alt|old||thing drive hum
klein|small, little||item home pet
groß|big, large|great|home item pet
schön|nice, lovely||home item date show weatherable
gut|good, great||food show abst read
lecker|delicious, tasty|delicate|food
lang|long||read date
kurz|short||read date
teuer=teur|expensive|dear|home thing
voll|full||vehicle
spät|late||vehicle
rot|red||thing drive
wichtig|important||date read
schwierig|difficult, tricky|heavy|abst date
""",
}

#: Adjectives of praise; all others of reviews are complaints.
GOOD = frozenset(
    "gut hervorragend sauber ruhig geräumig bequem modern freundlich aufmerksam hilfsbereit leicht praktisch "
    "zuverlässig stabil lecker frisch spannend lustig überraschend glaubwürdig talentiert bekannt günstig".split()
)
#: Opposites that do not go together in one judgement.
OPPOSITES = (
    "freundlich unfreundlich", "spannend langweilig", "sauber schmutzig", "ruhig laut", "geräumig klein",
    "modern veraltet", "leicht schwer", "günstig teuer", "stabil defekt", "frisch versalzen", "lustig traurig",
    "überraschend vorhersehbar",
)  # fmt: skip
#: Praise and complaint without a ground: not to be joined with their opposite.
GENERAL = frozenset("gut hervorragend schlecht enttäuschend".split())
#: Adjectives without degrees, those used only before a noun, and those used only after a copula.
ABSOLUTE = frozenset("hervorragend defekt versalzen pünktlich überfüllt leer trocken".split())
ATTRIBUTIVE = frozenset("mitgeliefert ander neu gewünscht rot grün weiter ehemalig".split())
PREDICATIVE = frozenset("leer voll trocken heiß locker verschmutzt scharf versalzen".split())

#: Predicate adjectives of kinds of subject.
PREDICATES = {
    "cost": "hoch|high|tall|\nniedrig|low||",
    "hum": "krank|ill, sick||\nmüde|tired||\nzufrieden|satisfied, happy|pacified|",
    "vehicle": "pünktlich|on time, punctual||\nüberfüllt|overcrowded, packed|:overfilled|\nspät|late||",
    "state": "schlecht|bad, awful||\nschön|nice, lovely||\nkalt|cold||",
}

ADVERBS = {
    "sudden": "überraschend|unexpectedly, surprisingly|amazingly",
    "sharp": "scharf|sharply, strongly|hotly",
    "firm": "entschieden|firmly, strongly|decisively",
    "careful": "sorgfältig|carefully, with care|worriedly",
    "again": "erneut|again, once more|newly",
    "loud": "lautstark|loudly, vociferously|noisily",
    "firmly": "fest|firmly, tightly|solidly",
    "thorough": "gründlich|thoroughly|fundamentally",
    "regular": "regelmäßig|regularly, at regular intervals|by rule",
    "correct": "richtig|correctly, properly|rightly",
    "fully": "vollständig|fully, completely|totally",
    "briefly": "kurz|briefly|shortly",
    "safe": "sicher|safely, securely|certainly",
}

#: Verbs of saying and thinking: infinitive | forms | English | wrong | classes of the subject.
REPORTING = {
    "news": """
sagen|w|say|tell|hum
erklären|w|say, explain|declare|hum org
betonen|w|stress, emphasise|tone|hum
mit+teilen|w|announce, state|share|org hum
bestätigen|w|confirm||hum org
behaupten|w|claim, maintain||hum
fürchten|w|fear, worry||grp hum
hoffen|w|hope||grp hum org
""",
    "reviews": "finden|findet,fand,gefunden|think, find||self\nglauben|w|think, believe||self",
    "manuals": "",
    "conversation": """
glauben|w|think, believe||self
hoffen|w|hope||self
denken|denkt,dachte,gedacht|think||self
hören|w|hear||self
""",
}

#: Adjuncts: German | English | tenses they go with (p past, n present, f future); ``{}`` is a slot.
TIMES = {
    "news": """
gestern|yesterday|p
am {weekday}|on {weekday}|p
in der vergangenen Woche|last week|p
im vergangenen Jahr|last year|p
vor {few} Tagen|{few} days ago|p
vor kurzem|recently, a short time ago|p
im {month} {year}|in {month} {year}|p
am {day}. {month}|on {day} {month}, on {month} {day}|pf
morgen|tomorrow|f
im kommenden Jahr|next year, in the coming year|f
in {few} Wochen|in {few} weeks|f
in der nächsten Woche|next week|f
ab {nextyear}|from {nextyear}, starting in {nextyear}|f
derzeit|currently, at present|n
""",
    "reviews": """
vor {few} Wochen|{few} weeks ago|p
im {month}|in {month}|p
im letzten Sommer|last summer|p
im Urlaub|on holiday, during the holidays|p
vor einem Jahr|a year ago, one year ago|p
am Wochenende|at the weekend, on the weekend|p
an unserem Hochzeitstag|on our wedding anniversary|p
""",
    "manuals": """
nach jedem Gebrauch|after every use, after each use|nf
einmal im Monat|once a month|nf
alle {few} Wochen|every {few} weeks|nf
vor dem ersten Gebrauch|before first use, before using it for the first time|nf
mindestens {few} Sekunden lang|for at least {few} seconds|b
bei Bedarf|if necessary, if required|nf
""",
    "conversation": """
gestern|yesterday|p
gestern Abend|last night, yesterday evening|p
am {weekday}|on {weekday}|pf
letzte Woche|last week|p
vor {few} Tagen|{few} days ago|p
morgen|tomorrow|f
heute Abend|tonight, this evening|nf
um {clock} Uhr|at {clock} o'clock|pf
am Wochenende|at the weekend, on the weekend|pf
nach der Arbeit|after work|pf
nächste Woche|next week|f
morgen früh|tomorrow morning|f
""",
}

PLACES = {
    "news": """
in {city}|in {city}|
in der Innenstadt|in the city centre, in the centre of town|
in der Region|in the region, in the area|
im Norden von {city}|in the north of {city}|
in {country}|in {country}|
""",
    "reviews": """
in {city}|in {city}|
in einem Geschäft in {city}|in a shop in {city}, at a store in {city}|
direkt am See|right by the lake, right on the lake|
""",
    "manuals": """
an einem trockenen Ort|in a dry place|
auf einer ebenen Fläche|on a level surface, on an even surface|
außerhalb der Reichweite von Kindern|out of the reach of children, out of children's reach|
""",
    "conversation": """
in der Stadt|in town, in the city|
am Bahnhof|at the station|
im Supermarkt|at the supermarket, in the supermarket|
in {city}|in {city}|
bei der Arbeit|at work|
zu Hause|at home|
""",
}

#: Sentence adverbs: German | English | wrong | domains.
COMMENTS = """
offenbar|apparently, evidently|openly|news
wahrscheinlich|probably, presumably|truly|news conversation
inzwischen|meanwhile, in the meantime|in between|news
außerdem|in addition, moreover|except|news reviews
dennoch|nevertheless, nonetheless||news
leider|unfortunately, sadly||reviews conversation
insgesamt|overall, all in all|in total|reviews
zum Glück|fortunately, luckily|for luck|reviews conversation
natürlich|of course, naturally||reviews conversation
vielleicht|maybe, perhaps||conversation
"""

#: Conjunctions: German | English | wrong.
CONJUNCTIONS = """
weil|because, since|while
da|because, as|there
obwohl|although, even though|because
während|while|despite
nachdem|after, once|according to
bevor|before|since
wenn|if, when|who
sobald|as soon as, once|as far as
solange|as long as, while|so long
bis|until|by
damit|so that|therewith
falls|if, in case|case
sodass|so that|such as
dass|that|so
ob|whether, if|above
und|and|or
aber|but|or
denn|because, for|then
doch|but, yet|still
"""

FIRST_NAMES = {
    "f": "Anna Clara Eva Greta Helga Ines Jana Karin Lena Marta Nadja Petra Sabine Tanja Ulrike",
    "m": "Bernd Dirk Emil Frank Georg Holger Jonas Klaus Lukas Martin Norbert Paul Ralf Stefan Tobias",
}
#: Surname | how a system that translates names would render it.
SURNAMES = """
Weber|Weaver
Fischer|Fisher
Zimmermann|Carpenter
Koch|Cook
Bauer|Farmer
König|King
Vogel|Bird
Schäfer|Shepherd
Jung|Young
Krüger|Kruger
Lindner|Linden
Hartmann|Hartman
Brandt|Brand
Sommer|Summer
Richter|Judge
Seidel|Seidl
Engel|Angel
Wagner|Wagoner
"""
COMPANIES = "Nordwerk Talvex Lindora Kestrin Brevola Montaris Helmatec Virelo Ostrand Quandera"
#: City | English.
CITIES = """
München|Munich
Köln|Cologne
Wien|Vienna
Zürich|Zurich
Nürnberg|Nuremberg
Genf|Geneva
Braunschweig|Brunswick
Hamburg|Hamburg
Leipzig|Leipzig
Dresden|Dresden
Bremen|Bremen
Kassel|Kassel
Rostock|Rostock
Ulm|Ulm
"""
COUNTRIES = """
Österreich|Austria
Frankreich|France
Italien|Italy
Polen|Poland
Dänemark|Denmark
Spanien|Spain
Griechenland|Greece
"""
WEEKDAYS = "Montag|Monday Dienstag|Tuesday Mittwoch|Wednesday Donnerstag|Thursday Freitag|Friday Samstag|Saturday"
MONTHS = (
    "Januar|January Februar|February März|March April|April Mai|May Juni|June Juli|July August|August "
    "September|September Oktober|October November|November Dezember|December"
)

#: English words that are not inflected by rule.
IRREGULAR = {
    "be": ("was", "been"),
    "begin": ("began", "begun"),
    "borrow": ("borrowed", "borrowed"),
    "bring": ("brought", "brought"),
    "build": ("built", "built"),
    "buy": ("bought", "bought"),
    "choose": ("chose", "chosen"),
    "come": ("came", "come"),
    "cut": ("cut", "cut"),
    "break": ("broke", "broken"),
    "cost": ("cost", "cost"),
    "do": ("did", "done"),
    "draw": ("drew", "drawn"),
    "drink": ("drank", "drunk"),
    "drive": ("drove", "driven"),
    "eat": ("ate", "eaten"),
    "fall": ("fell", "fallen"),
    "feed": ("fed", "fed"),
    "feel": ("felt", "felt"),
    "find": ("found", "found"),
    "fit": ("fitted", "fitted"),
    "forget": ("forgot", "forgotten"),
    "forgive": ("forgave", "forgiven"),
    "get": ("got", "got"),
    "give": ("gave", "given"),
    "go": ("went", "gone"),
    "grow": ("grew", "grown"),
    "have": ("had", "had"),
    "hear": ("heard", "heard"),
    "hit": ("hit", "hit"),
    "hold": ("held", "held"),
    "hurt": ("hurt", "hurt"),
    "keep": ("kept", "kept"),
    "know": ("knew", "known"),
    "lay": ("laid", "laid"),
    "lean": ("leaned", "leaned"),
    "leave": ("left", "left"),
    "lend": ("lent", "lent"),
    "let": ("let", "let"),
    "light": ("lit", "lit"),
    "lose": ("lost", "lost"),
    "make": ("made", "made"),
    "meet": ("met", "met"),
    "overtake": ("overtook", "overtaken"),
    "partake": ("partook", "partaken"),
    "pay": ("paid", "paid"),
    "put": ("put", "put"),
    "read": ("read", "read"),
    "ring": ("rang", "rung"),
    "rise": ("rose", "risen"),
    "run": ("ran", "run"),
    "say": ("said", "said"),
    "see": ("saw", "seen"),
    "sell": ("sold", "sold"),
    "send": ("sent", "sent"),
    "set": ("set", "set"),
    "shine": ("shone", "shone"),
    "shut": ("shut", "shut"),
    "show": ("showed", "shown"),
    "sink": ("sank", "sunk"),
    "sit": ("sat", "sat"),
    "sleep": ("slept", "slept"),
    "speak": ("spoke", "spoken"),
    "spend": ("spent", "spent"),
    "spit": ("spat", "spat"),
    "stop": ("stopped", "stopped"),
    "take": ("took", "taken"),
    "teach": ("taught", "taught"),
    "tell": ("told", "told"),
    "think": ("thought", "thought"),
    "undo": ("undid", "undone"),
    "win": ("won", "won"),
    "write": ("wrote", "written"),
}
#: Regular verbs that double their last consonant.
DOUBLING = ("cancel", "snap", "underpin", "chat", "drop", "plan", "commit", "spit", "unplug", "chop", "beg")
