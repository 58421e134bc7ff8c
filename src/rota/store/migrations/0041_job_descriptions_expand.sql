-- What a job is for, in the words of the people who own it.
alter table rota.jobs add column description text;
