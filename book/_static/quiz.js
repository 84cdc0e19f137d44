// Check answers in the page. Nothing is stored or sent: reload, and all is forgotten.
const questions = [...document.querySelectorAll(".quiz-question")].map((box) => ({
  box,
  inputs: [...box.querySelectorAll("input")],
  feedback: box.querySelector(".quiz-feedback"),
  answers: box.querySelector("details"),
  tries: 0,
  solved: false,
  first: false,
}));

const score = document.createElement("div");
score.className = "quiz-score";
score.innerHTML = '<p role="status"></p><button type="button">Open all answers</button><button type="button">Start again</button>';
const [openAll, again] = score.querySelectorAll("button");

function tell() {
  const tried = questions.filter((q) => q.tries > 0).length;
  const [first, solved] = ["first", "solved"].map((what) => questions.filter((q) => q[what]).length);
  score.querySelector("p").textContent =
    `${tried} of ${questions.length} questions answered: ${first} right at the first try, ${solved} right by now.`;
}

function check(q) {
  const chosen = q.inputs.filter((input) => input.checked).map((input) => input.value);
  if (!chosen.length) {
    q.feedback.textContent = "Choose an answer first.";
    return;
  }
  const answers = [...q.answers.querySelectorAll(".quiz-answer")];
  const ofChosen = answers.filter((answer) => chosen.includes(answer.dataset.letter));
  const right = ofChosen.filter((answer) => answer.dataset.verdict === "right").length;
  const all = answers.filter((answer) => answer.dataset.verdict === "right").length;
  q.solved = right === all && right === chosen.length;
  q.first = q.tries === 0 ? q.solved : q.first;
  q.tries += 1;
  const verdict = document.createElement("p");
  const some = `${right} of your ${chosen.length} choices ${right === 1 ? "is" : "are"} right`;
  const lacking = right < all ? ", and a right one is missing" : "";
  verdict.textContent = q.solved ? "Right." : q.inputs[0].type === "radio" ? "Not right." : `Not yet: ${some}${lacking}.`;
  q.feedback.replaceChildren(verdict, ...ofChosen.map((answer) => answer.cloneNode(true)));
  q.answers.hidden = false;
  tell();
}

function reset(q) {
  for (const input of q.inputs) input.checked = false;
  Object.assign(q, { tries: 0, solved: false, first: false });
  q.feedback.replaceChildren();
  q.answers.open = false;
  q.answers.hidden = true;
}

for (const q of questions) {
  const button = q.box.querySelector(".quiz-check");
  button.hidden = false;
  button.addEventListener("click", () => check(q));
  reset(q);
}
openAll.addEventListener("click", () => {
  for (const q of questions) Object.assign(q.answers, { hidden: false, open: true });
});
again.addEventListener("click", () => {
  questions.forEach(reset);
  tell();
  questions[0].inputs[0].focus();
});
questions.at(-1).box.after(score);
tell();
